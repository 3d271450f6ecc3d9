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

interface Started {
  readonly id: string
  /** The clouds that it is limited to; all without one. */
  readonly clouds: readonly string[]
}

/** More clouds than this make too long a menu; a terminal has `--cloud`. */
const MENU_CLOUDS = 12

/** Actions for the site, and those that change something also for each cloud. */
function listChoices({ actions: known, clouds }: MetaDocument): readonly { value: string; title: string }[] {
  return known.flatMap(({ id, title, confirm }) => {
    const each = confirm && clouds.length > 1
    const whole = { value: id, title: each ? `${title} all clouds` : title }
    if (!each || clouds.length > MENU_CLOUDS) return [whole]
    return [whole, ...clouds.map(({ name }) => ({ value: `${id} ${name}`, title: `${title} ${name}` }))]
  })
}

export function Actions({ meta }: { readonly meta: MetaDocument | undefined }): JSX.Element | null {
  const started = useSignal<Started>({ id: '', clouds: [] })
  const problem = useSignal('')
  if (!meta || meta.actions.length === 0) return null
  const start = async (action: ActionState['action'], clouds: readonly string[], confirm?: string): Promise<void> => {
    const { value, problem: failure } = await fetchJson<ActionState>(fillRoute('action', { action }), {
      method: 'POST',
      headers: { [ACTION_HEADER]: '1', 'content-type': 'application/json' },
      body: JSON.stringify({ ...(clouds.length > 0 && { clouds }), ...(confirm !== undefined && { confirm }) }),
    })
    problem.value = failure ? `${failure.message} ${failure.remedy}` : ''
    if (!value) return
    recordAction(value)
    started.value = { id: value.id, clouds }
  }
  const state = actions.value.get(started.value.id)
  return (
    <>
      <label class="actions">
        <span class="unseen">Start an action</span>
        <select
          value=""
          onChange={(event) => {
            const [id, cloud] = event.currentTarget.value.split(' ')
            event.currentTarget.value = ''
            const chosen = meta.actions.find((action) => action.id === id)
            if (chosen) void start(chosen.id, cloud === undefined ? [] : [cloud])
          }}
        >
          <option value="">Actions</option>
          {listChoices(meta).map(({ value, title }) => (
            <option key={value} value={value}>
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
          confirm={() => start(state.action, started.value.clouds, state.confirm)}
          close={() => {
            started.value = { id: '', clouds: [] }
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
          <p>
            <b>{state.question}</b>
          </p>
          {state.type !== undefined && (
            <label>
              {`Type ${state.type} to confirm `}
              <input
                type="text"
                autocomplete="off"
                value={typed.value}
                onInput={(event) => {
                  typed.value = event.currentTarget.value
                }}
              />
            </label>
          )}
          <button
            type="submit"
            class={state.type === undefined ? 'main' : 'danger'}
            disabled={typed.value !== (state.type ?? '')}
          >
            {`Run ${state.action}`}
          </button>
        </form>
      )}
      <p class="dialog-end">
        {state.command.includes(' --yes ') && (
          <a href={linkTo('run')} onClick={() => dialog.current?.close()}>
            Watch the run
          </a>
        )}
        <button type="button" onClick={() => dialog.current?.close()}>
          Close
        </button>
      </p>
    </dialog>
  )
}
