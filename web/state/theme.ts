/** Keeps the chosen theme; without a choice the page follows the system. */
import { signal } from '@preact/signals'

export type Theme = 'system' | 'light' | 'dark'

const KEY = 'stackloom-theme'

export const theme = signal<Theme>(readTheme())
applyTheme(theme.value)

export function switchTheme(): void {
  const order: readonly Theme[] = ['system', 'light', 'dark']
  theme.value = order[(order.indexOf(theme.value) + 1) % order.length] ?? 'system'
  applyTheme(theme.value)
  try {
    localStorage.setItem(KEY, theme.value)
  } catch {
    // A browser that stores nothing still shows the choice until the page is closed.
  }
}

function readTheme(): Theme {
  try {
    const stored = localStorage.getItem(KEY)
    return stored === 'light' || stored === 'dark' ? stored : 'system'
  } catch {
    return 'system'
  }
}

function applyTheme(chosen: Theme): void {
  if (chosen === 'system') delete document.documentElement.dataset['theme']
  else document.documentElement.dataset['theme'] = chosen
}
