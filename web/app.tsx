/** The frame of the page: source and connection, search, menu, and the view of the current address. */
import type { JSX } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import type { MetaDocument } from '../src/console/documents/meta.ts'
import { type ViewName, viewNames } from '../src/console/routes.ts'
import { Actions } from './parts/actions.tsx'
import { ConnectionState, Disconnected } from './parts/connection.tsx'
import { KeyHelp } from './parts/key-help.tsx'
import { helpOpen } from './state/keys.ts'
import { linkTo, openView, param, route } from './state/location.ts'
import { useDocument } from './state/store.ts'
import { switchTheme, theme } from './state/theme.ts'
import { AddressesView } from './views/addresses.tsx'
import { FindingsView } from './views/findings.tsx'
import { HostsView } from './views/hosts.tsx'
import { LabView } from './views/lab.tsx'
import { OverviewView } from './views/overview.tsx'
import { RunView } from './views/run.tsx'
import { SearchView } from './views/search.tsx'
import { TopologyView } from './views/topology.tsx'

const components: Readonly<Record<ViewName | 'search', () => JSX.Element>> = {
  overview: OverviewView,
  addresses: AddressesView,
  topology: TopologyView,
  run: RunView,
  hosts: HostsView,
  findings: FindingsView,
  lab: LabView,
  search: SearchView,
}

const titles: Readonly<Record<ViewName | 'search', string>> = {
  overview: 'Overview',
  addresses: 'Addresses',
  topology: 'Topology',
  run: 'Run',
  hosts: 'Hosts',
  findings: 'Findings',
  lab: 'Lab',
  search: 'Search',
}

export function App(): JSX.Element {
  const { view } = route.value
  const { value: meta } = useDocument('meta')
  const main = useRef<HTMLElement>(null)
  const shownBefore = useRef(view)
  useEffect(() => {
    document.title = `${titles[view]}${meta?.site ? ` · ${meta.site}` : ''} · Stackloom`
    if (shownBefore.current === view) return
    shownBefore.current = view
    // A screen reader continues in the new view, and j starts with its first line.
    main.current?.focus()
    // On a phone the menu is wider than the screen.
    document.querySelector('.nav [aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'center' })
    scrollTo(0, 0)
  }, [view, meta?.site])
  const View = components[view]
  return (
    <div class="frame">
      <Top meta={meta} />
      <Menu view={view} meta={meta} />
      <main ref={main} tabIndex={-1}>
        <Disconnected meta={meta} />
        <View key={view} />
      </main>
      <KeyHelp />
    </div>
  )
}

function Top({ meta }: { readonly meta: MetaDocument | undefined }): JSX.Element {
  return (
    <header class="top">
      <a class="brand" href={linkTo('overview')}>
        <img src="/icon.svg" alt="" />
        <span class={meta?.site ? 'product' : ''}>Stackloom</span>
        {meta?.site && <span class="site">{meta.site}</span>}
      </a>
      <SearchField />
      <div class="top-end">
        <Actions meta={meta} />
        <ConnectionState meta={meta} />
        <button type="button" class="plain" onClick={switchTheme} aria-label={`Theme: ${theme.value}. Change it`}>
          {theme.value === 'system' ? '◐' : theme.value === 'light' ? '☀' : '☾'}
        </button>
        <button
          type="button"
          class="plain"
          aria-label="Show the keys"
          onClick={() => {
            helpOpen.value = true
          }}
        >
          ?
        </button>
      </div>
    </header>
  )
}

function SearchField(): JSX.Element {
  return (
    <search class="find">
      <form
        onSubmit={(event) => {
          event.preventDefault()
          const query = new FormData(event.currentTarget).get('q')
          if (typeof query === 'string' && query.trim() !== '') openView('search', { q: query.trim() })
        }}
      >
        <input
          type="search"
          name="q"
          data-search
          aria-label="Search an address, or the name of a host, node, slot or Service"
          placeholder="Owner of an address, host, slot or Service  s"
          value={route.value.view === 'search' ? param('q') : ''}
        />
      </form>
    </search>
  )
}

function Menu({ view, meta }: { readonly view: string; readonly meta: MetaDocument | undefined }): JSX.Element {
  // The overview has the counts too, and is a fifth of the size.
  const { value: overview } = useDocument('overview')
  const { error: errors, warning: warnings } = overview?.findings ?? { error: 0, warning: 0 }
  return (
    <nav class="nav" aria-label="Views">
      <ul>
        {viewNames.map((name) => {
          const known = meta?.views.find(({ id }) => id === name)
          return (
            <li key={name}>
              <a
                href={linkTo(name)}
                aria-current={view === name ? 'page' : undefined}
                class={known?.available === false ? 'quiet' : ''}
                title={known?.reason}
              >
                {titles[name]}
                {name === 'findings' && errors + warnings > 0 && (
                  <span class={`count ${errors > 0 ? 'bad' : 'warn'}`}>
                    {errors > 0 ? errors : warnings}
                    <span class="unseen">{errors > 0 ? ' errors' : ' warnings'}</span>
                  </span>
                )}
              </a>
            </li>
          )
        })}
      </ul>
    </nav>
  )
}
