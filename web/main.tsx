/** Starts the page of the console. */
import { render } from 'preact'
import type { DocumentName } from '../src/console/routes.ts'
import { App } from './app.tsx'
import { listenToKeys } from './state/keys.ts'
import { route } from './state/location.ts'
import type { ViewName } from './state/route.ts'
import { loadDocuments, openStream } from './state/store.ts'
import { switchTheme } from './state/theme.ts'

/** A server that is still starting gets a frame that says so. */
const WAIT_MS = 150

listenToKeys({ switchTheme })
openStream()
// The documents of the frame arrive with this script: drawing a frame without them first would delay what is in them.
const documents = new Set<DocumentName>(['meta', 'overview', ...documentsOfView(route.value.view)])
await Promise.race([loadDocuments([...documents]), new Promise((resolve) => setTimeout(resolve, WAIT_MS))])
const page = document.querySelector('#page')
if (page) render(<App />, page)

/** What the view of a link needs besides; a search asks with its words. */
function documentsOfView(view: ViewName): readonly DocumentName[] {
  if (view === 'search') return []
  return view === 'run' ? ['runs'] : [view]
}
