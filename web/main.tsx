/** Starts the page of the console. */
import { render } from 'preact'
import { App } from './app.tsx'
import { listenToKeys } from './state/keys.ts'
import { openStream } from './state/store.ts'
import { switchTheme } from './state/theme.ts'

listenToKeys({ switchTheme })
openStream()
const page = document.querySelector('#page')
if (page) render(<App />, page)
