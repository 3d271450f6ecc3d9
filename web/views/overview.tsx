/** Overview: what needs attention first, with the reason, then one line per cloud. */
import type { JSX } from 'preact'
import type { Attention, CloudLine, OverviewDocument, SiteLine } from '../../src/console/documents/overview.ts'
import { CommandLine } from '../parts/command-line.tsx'
import { Filter, matchesFilter } from '../parts/filter.tsx'
import { formatPercent } from '../parts/format.ts'
import { Mark } from '../parts/mark.tsx'
import { Meter } from '../parts/meter.tsx'
import { Panel } from '../parts/panel.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { ViewHead, WithDocument } from '../parts/view.tsx'
import { linkTo, param } from '../state/location.ts'
import { useDocument } from '../state/store.ts'

/** More would hide the clouds below; the findings have all of them. */
const SHOWN_FIRST = 6

export function OverviewView(): JSX.Element {
  return (
    <WithDocument view="overview" loaded={useDocument('overview')}>
      {(document) => <Overview document={document} />}
    </WithDocument>
  )
}

function Overview({ document }: { readonly document: OverviewDocument }): JSX.Element {
  const { attention, clouds, sites, summary, command, notes } = document
  const filter = param('filter')
  const shown = clouds.filter(({ name, state, reason, release }) =>
    matchesFilter(filter, [name, state, reason, release]),
  )
  return (
    <>
      <ViewHead title="Overview" summary={summary} command={command} notes={notes} />
      <AttentionList items={attention} />
      {sites.length > 0 && (
        <Panel title="Sites">
          <Table caption="Sites" columns={siteColumns} rows={sites} keyOf={({ id }) => id} cards />
        </Panel>
      )}
      <Panel title="Clouds" more={<Filter label="Filter clouds" shown={shown.length} total={clouds.length} />}>
        <Table
          caption="Clouds"
          columns={columns}
          rows={shown}
          keyOf={({ id }) => id}
          linkOf={({ id, name }) => (id === 'shared' ? linkTo('findings') : linkTo('addresses', { cloud: name }))}
          empty={
            clouds.length > 0 ? 'No cloud matches.' : 'No cloud is known: no site file has one, and none is deployed.'
          }
          cards
        />
      </Panel>
    </>
  )
}

function AttentionList({ items }: { readonly items: readonly Attention[] }): JSX.Element {
  if (items.length === 0) {
    return (
      <Panel title="Needs attention">
        <p class="body">
          <Mark state="ok" label="nothing" />
        </p>
      </Panel>
    )
  }
  const more = items.length - SHOWN_FIRST
  return (
    <Panel title="Needs attention" more={<span class="count">{items.length}</span>}>
      <ul class="attention">
        {items.slice(0, SHOWN_FIRST).map(({ id, severity, cloud, title, reason, command, link }) => (
          <li key={id} class={severity}>
            <Mark state={severity} short />
            <div>
              <a data-item href={linkTo(link.view, link.query)}>
                {title}
              </a>
              {cloud && <span class="tag">{cloud}</span>}
              <p class="quiet wrap">{reason}</p>
            </div>
            {command && <CommandLine command={command} />}
          </li>
        ))}
      </ul>
      {more > 0 && (
        <p class="body">
          <a href={linkTo('findings')}>{`${more} more in Findings`}</a>
        </p>
      )}
    </Panel>
  )
}

const columns: readonly Column<CloudLine>[] = [
  { title: 'Cloud', cell: ({ name }) => name },
  {
    title: 'State',
    kind: 'wide',
    cell: ({ state, reason, objects }) => (
      <>
        <Mark state={state} />
        {objects.total > 0 && <span class="quiet number">{` ${objects.ready}/${objects.total}`}</span>}
        {reason && <p class="quiet wrap clamp">{reason}</p>}
      </>
    ),
  },
  { title: 'Release', kind: 'short', cell: ({ release }) => release ?? '–' },
  { title: 'Stage', cell: ({ stage }) => (stage ? <StageLink {...stage} /> : '–') },
  {
    title: 'Findings',
    cell: ({ id, name, findings }) => <FindingCounts cloud={id === 'shared' ? '' : name} {...findings} />,
  },
  {
    title: 'Hosts',
    kind: 'short',
    cell: ({ hosts }) =>
      hosts ? <span class={hosts.failed > 0 ? 'bad' : hosts.behind > 0 ? 'warn' : ''}>{hosts.text}</span> : '–',
  },
  {
    title: 'Fullest pool',
    cell: ({ fullestPool: pool }) =>
      pool ? (
        <Meter
          fraction={pool.fraction}
          label={`${pool.network} ${pool.role}`}
          text={`${pool.used}/${pool.of} ${formatPercent(pool.fraction)}`}
        />
      ) : (
        '–'
      ),
  },
  {
    title: 'Certificate',
    cell: ({ soonestCertificate: certificate }) =>
      certificate ? (
        <span
          title={`${certificate.name}, until ${certificate.notAfter}`}
          class={certificateTones[certificate.verdict] ?? ''}
        >
          {certificate.verdict === 'expired' ? 'expired' : `${certificate.daysLeft} d`}
        </span>
      ) : (
        '–'
      ),
  },
]

const siteColumns: readonly Column<SiteLine>[] = [
  { title: 'Site', cell: ({ id, isShown }) => (isShown ? <b>{`${id}, shown here`}</b> : id) },
  { title: 'Verdict', cell: ({ verdict }) => <Mark state={verdict} /> },
  { title: 'Clouds', cell: ({ clouds }) => clouds ?? '–' },
  {
    title: 'Ready',
    kind: 'number',
    cell: ({ objects }) => (objects ? `${objects.ready}/${objects.total}` : '–'),
  },
  { title: 'First problem', kind: 'wide', cell: ({ problem }) => <span class="wrap clamp">{problem ?? '–'}</span> },
  { title: 'Open it', cell: ({ isShown, command }) => (isShown ? '–' : <CommandLine command={command} />) },
]

const certificateTones: Readonly<Record<string, string>> = {
  expired: 'bad',
  critical: 'bad',
  soon: 'warn',
  due: 'warn',
}

function StageLink({
  name,
  state,
  run,
}: {
  readonly name: string
  readonly state: string
  readonly run: string
}): JSX.Element {
  return (
    <a href={linkTo('run', { run })}>
      <Mark state={state} label={name} />
    </a>
  )
}

interface FindingCountsProps {
  readonly cloud: string
  readonly error: number
  readonly warning: number
  readonly info: number
}

function FindingCounts({ cloud, error, warning }: FindingCountsProps): JSX.Element {
  if (error + warning === 0) return <span class="quiet">none</span>
  return (
    <a class="counts" href={linkTo('findings', { filter: cloud })}>
      {error > 0 && <Mark state="error" label={`${error}`} />}
      {warning > 0 && <Mark state="warning" label={`${warning}`} />}
    </a>
  )
}
