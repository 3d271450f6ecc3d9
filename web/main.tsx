/** Starts the page of the console. */
import { render } from 'preact'
import { App } from './app.tsx'
import { listenToKeys } from './state/keys.ts'
import { loadDocuments, openStream } from './state/store.ts'
import { switchTheme } from './state/theme.ts'

/** A server that is still starting gets a frame that says so. */
const WAIT_MS = 150

listenToKeys({ switchTheme })
openStream()
// The documents arrive with this script: drawing a frame without them first would delay what is in them.
await Promise.race([loadDocuments(['meta', 'overview']), new Promise((resolve) => setTimeout(resolve, WAIT_MS))])
const page = document.querySelector('#page')
if (page) render(<App />, page)
