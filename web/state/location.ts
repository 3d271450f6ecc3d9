/** Keeps the current route in a signal and changes the browser's address with it. */
import { signal } from '@preact/signals'
import { formatRoute, type Params, parseRoute, type Route, type ViewName } from './route.ts'

export const route = signal<Route>(parseRoute(location.hash))

addEventListener('hashchange', () => {
  route.value = parseRoute(location.hash)
})

export function linkTo(view: ViewName, params: Params = {}): string {
  return formatRoute({ view, params })
}

export function openView(view: ViewName, params: Params = {}): void {
  location.hash = linkTo(view, params)
}

/**
 * Changes parameters of the current view; an empty value removes one. Typing into a filter or moving a slider replaces
 * the entry of the history, a selection adds one: Back leads to the thing before.
 */
export function setParams(changes: Params, history: 'add' | 'replace' = 'add'): void {
  const { view, params } = route.value
  const next = linkTo(view, { ...params, ...changes })
  if (next === location.hash) return
  if (history === 'add') location.hash = next
  else {
    window.history.replaceState(null, '', next)
    route.value = parseRoute(next)
  }
}

export function param(name: string): string {
  return route.value.params[name] ?? ''
}
