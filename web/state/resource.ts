/** Loads a document that has a key (one network, one item, one run) and loads it again when the stream says so. */
import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import type { StreamEvent } from '../../src/console/documents/stream.ts'
import { fetchJson, type Loaded, listenToStream } from './store.ts'

/** Loads at most this often: a run reports many events per second. */
const PAUSE_MS = 400

/** `isStale` says whether an event of the stream makes the document out of date. An empty URL loads nothing. */
export function useResource<T>(url: string, isStale: (event: StreamEvent) => boolean = () => false): Loaded<T> {
  const state = useSignal<Loaded<T> & { readonly url: string }>({ url: '' })
  useEffect(() => {
    if (url === '') return undefined
    let open = true
    let timer: ReturnType<typeof setTimeout> | undefined
    const load = async (): Promise<void> => {
      const loaded = await fetchJson<T>(url)
      if (open) state.value = { url, ...loaded }
    }
    const stop = listenToStream((event) => {
      if (timer !== undefined || !(event.kind === 'reset' || isStale(event))) return
      timer = setTimeout(() => {
        timer = undefined
        void load()
      }, PAUSE_MS)
    })
    void load()
    return () => {
      open = false
      clearTimeout(timer)
      stop()
    }
  }, [url])
  // What belongs to another URL is not shown: it is the answer to another question.
  return state.value.url === url ? state.value : {}
}
