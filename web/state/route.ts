/**
 * Reads and writes the part of the address behind `#`: the view and what is selected, so that every view can be linked.
 *
 * Pure; `location.ts` connects it to the browser.
 */

import { viewNames } from '../../src/console/routes.ts'

const names = [...viewNames, 'search'] as const
export type ViewName = (typeof names)[number]
export type Params = Readonly<Record<string, string>>

export interface Route {
  readonly view: ViewName
  readonly params: Params
}

/** An unknown view is the overview: an old link still opens the page. */
export function parseRoute(hash: string): Route {
  const [path = '', query = ''] = hash.replace(/^#?\/?/, '').split('?', 2)
  const view = names.find((name) => name === path) ?? 'overview'
  return { view, params: Object.fromEntries(new URLSearchParams(query)) }
}

/** Parameters are sorted, so that one state has one address; empty ones are left out. */
export function formatRoute({ view, params }: Route): string {
  const entries = Object.entries(params)
    .filter(([, value]) => value !== '')
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
  const query = new URLSearchParams(entries).toString()
  return `#/${view}${query && `?${query}`}`
}
