/** Collects the events of one run, from the server and then from the stream, and folds them as the terminal does. */
import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { RunEventsDocument } from '../../src/console/documents/runs.ts'
import { fillRoute } from '../../src/console/routes.ts'
import type { RunEvent } from '../../src/run/events.ts'
import { applyEvent, createRunView, type RunView } from '../../src/run/run-view.ts'
import { fetchJson, listenToStream, type Problem } from './store.ts'

export interface RunEvents {
  readonly events: readonly RunEvent[]
  readonly complete: boolean
  readonly problem?: Problem
}

const NONE: RunEvents = { events: [], complete: false }

export function useRunEvents(run: string): RunEvents {
  const state = useSignal<RunEvents & { readonly run: string }>({ run, ...NONE })
  useEffect(() => {
    if (run === '') return undefined
    let open = true
    /** Events by index: the stream may send some before the server has answered. */
    const known: RunEvent[] = []
    const add = (from: number, events: readonly unknown[]): void => {
      events.forEach((event, index) => {
        known[from + index] = event as RunEvent
      })
    }
    const publish = (complete: boolean): void => {
      if (open) state.value = { run, events: withoutGap(known), complete }
    }
    const load = async (): Promise<void> => {
      for (let from: number | undefined = 0; open && from !== undefined; ) {
        const { value, problem }: { value?: RunEventsDocument; problem?: Problem } = await fetchJson(
          `${fillRoute('runEvents', { run })}?from=${from}`,
        )
        if (!value) {
          if (open) state.value = { run, ...NONE, ...(problem && { problem }) }
          return
        }
        add(value.from, value.events)
        from = value.next
      }
      publish(true)
    }
    const stop = listenToStream((event) => {
      if (event.kind === 'reset') void load()
      if (event.kind !== 'run' || event.run !== run) return
      add(event.from, event.events)
      if (state.value.complete) publish(true)
    })
    void load()
    return () => {
      open = false
      stop()
    }
  }, [run])
  return state.value.run === run ? state.value : NONE
}

/** Up to the first event that has not arrived yet. */
function withoutGap(known: readonly RunEvent[]): readonly RunEvent[] {
  const gap = known.findIndex((event) => event === undefined)
  return gap < 0 ? [...known] : known.slice(0, gap)
}

export function foldEvents(events: readonly RunEvent[]): RunView {
  const view = createRunView()
  for (const event of events) applyEvent(view, event)
  return view
}
