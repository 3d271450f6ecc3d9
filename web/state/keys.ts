/**
 * Handles the keys of the page: `/` filters, j and k move, Enter opens, Esc goes back, ? shows the keys, digits open views.
 *
 * The focus of the browser is the selection, so that a screen reader reads what j and k reach.
 */
import { signal } from '@preact/signals'
import { viewNames } from '../../src/console/routes.ts'
import { openView, param, setParams } from './location.ts'

export const helpOpen = signal(false)

/** What j and k move between. */
const ITEMS = '[data-item]'

export const keyHelp: readonly (readonly [string, string])[] = [
  ['/', 'filter or search in this view'],
  ['s', 'search an address or a name'],
  ['j  k', 'next, previous line'],
  ['Enter', 'open the line'],
  ['Esc', 'leave the filter, close the selection'],
  ['1 … 7', 'open a view'],
  ['t', 'change the theme'],
  ['?', 'show the keys'],
]

interface KeyActions {
  readonly switchTheme: () => void
}

export function listenToKeys({ switchTheme }: KeyActions): void {
  addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return
    if (event.key === 'Escape') return leave(event)
    if (helpOpen.value || isTyping(event.target)) return
    const action = actionOf(event.key, switchTheme)
    if (!action) return
    event.preventDefault()
    action()
  })
}

function actionOf(key: string, switchTheme: () => void): (() => void) | undefined {
  const view = viewNames[Number(key) - 1]
  if (view) return () => openView(view)
  switch (key) {
    case '/':
      return () => focusFirst('[data-filter]') || focusFirst('[data-search]')
    case 's':
      return () => focusFirst('[data-search]')
    case 'j':
      return () => moveFocus(1)
    case 'k':
      return () => moveFocus(-1)
    case 't':
      return switchTheme
    case '?':
      return () => {
        helpOpen.value = true
      }
    default:
      return undefined
  }
}

function leave(event: KeyboardEvent): void {
  if (helpOpen.value) {
    helpOpen.value = false
  } else if (isTyping(event.target)) {
    event.target.blur()
    focusFirst(`main ${ITEMS}`)
  } else if (param('selected')) setParams({ selected: '' })
  else if (param('filter')) setParams({ filter: '' }, 'replace')
}

function isTyping(target: EventTarget | null): target is HTMLElement {
  return (
    target instanceof HTMLTextAreaElement ||
    target instanceof HTMLSelectElement ||
    (target instanceof HTMLInputElement && target.type !== 'checkbox' && target.type !== 'radio')
  )
}

function focusFirst(selector: string): boolean {
  const found = document.querySelector<HTMLElement>(selector)
  found?.focus()
  if (found instanceof HTMLInputElement) found.select()
  return found !== null
}

function moveFocus(step: 1 | -1): void {
  const items = [...document.querySelectorAll<HTMLElement>(`main ${ITEMS}`)].filter((item) => item.checkVisibility())
  const current = items.findIndex((item) => item === document.activeElement || item.contains(document.activeElement))
  const next = current < 0 ? (step > 0 ? 0 : items.length - 1) : Math.min(items.length - 1, Math.max(0, current + step))
  items[next]?.focus()
  items[next]?.scrollIntoView({ block: 'nearest' })
}
