/** Starts actions, where the console allows them: the same confirmation as on a terminal, and the output. */
import { useSignal } from '@preact/signals'
import type { JSX } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import type { ActionState } from '../../src/console/documents/actions.ts'
import type { MetaDocument } from '../../src/console/documents/meta.ts'
import { ACTION_HEADER, fillRoute } from '../../src/console/routes.ts'
import { linkTo } from '../state/location.ts'
import { actions, fetchJson, recordAction } from '../state/store.ts'
import { CommandLine } from './command-line.tsx'
import { Mark } from './mark.tsx'

type Action = MetaDocument['actions'][number]

export function Actions({ meta }: { readonly meta: MetaDocument | undefined }): JSX.Element | null {
  const started = useSignal('')
  const problem = useSignal('')
  if (!meta || meta.actions.length === 0) return null
  const start = async (action: Action, confirm?: string): Promise<void> => {
    const { value, problem: failure } = await fetchJson<ActionState>(fillRoute('action', { action: action.id }), {
      method: 'POST',
      headers: { [ACTION_HEADER]: '1', 'content-type': 'application/json' },
      body: JSON.stringify({ ...(confirm !== undefined && { confirm }) }),
    })
    problem.value = failure ? `${failure.message} ${failure.remedy}` : ''
    if (!value) return
    recordAction(value)
    started.value = value.id
  }
  const state = actions.value.get(started.value)
  const action = meta.actions.find(({ id }) => id === state?.action)
  return (
    <>
      <label class="actions">
        <span class="unseen">Start an action</span>
        <select
          value=""
          onChange={(event) => {
            const chosen = meta.actions.find(({ id }) => id === event.currentTarget.value)
            event.currentTarget.value = ''
            if (chosen) void start(chosen)
          }}
        >
          <option value="">Actions</option>
          {meta.actions.map(({ id, title }) => (
            <option key={id} value={id}>
              {title}
            </option>
          ))}
        </select>
      </label>
      {problem.value && (
        <span role="alert" class="bad">
          {problem.value}
        </span>
      )}
      {state && (
        <ActionDialog
          key={state.id}
          state={state}
          confirm={() => (action ? start(action, state.confirm) : Promise.resolve())}
          close={() => {
            started.value = ''
          }}
        />
      )}
    </>
  )
}

interface ActionDialogProps {
  readonly state: ActionState
  readonly confirm: () => Promise<void>
  readonly close: () => void
}

function ActionDialog({ state, confirm, close }: ActionDialogProps): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null)
  const typed = useSignal('')
  useEffect(() => dialog.current?.showModal(), [])
  return (
    <dialog ref={dialog} class="action" onClose={close} aria-labelledby="action-title">
      <h2 id="action-title">
        {state.action} <Mark state={state.state === 'asks' ? 'waiting' : state.state} label={state.state} />
      </h2>
      <CommandLine command={state.command} />
      {state.output && (
        <pre class="output" tabIndex={0}>
          {state.output}
        </pre>
      )}
      {state.state === 'asks' && (
        <form
          class="stack"
          onSubmit={(event) => {
            event.preventDefault()
            void confirm()
          }}
        >
          <p>{state.question}</p>
          <label>
            {`Type ${state.confirm} to confirm `}
            <input
              type="text"
              value={typed.value}
              onInput={(event) => {
                typed.value = event.currentTarget.value
              }}
            />
          </label>
          <button type="submit" class="danger" disabled={typed.value !== state.confirm}>
            {`Run ${state.action}`}
          </button>
        </form>
      )}
      <p class="dialog-end">
        {state.run && <a href={linkTo('run', { run: state.run })}>Watch the run</a>}
        <button type="button" onClick={() => dialog.current?.close()}>
          Close
        </button>
      </p>
    </dialog>
  )
}
