/** One network of one cloud: its bars with every address, zoom, and the addresses as a table. */
import type { JSX } from 'preact'
import type { AddressMark, NetworkDocument } from '../../src/console/documents/addresses.ts'
import { fillRoute } from '../../src/console/routes.ts'
import { Filter, matchesFilter } from '../parts/filter.tsx'
import { Mark } from '../parts/mark.tsx'
import { ModeChoice } from '../parts/mode-choice.tsx'
import { Panel } from '../parts/panel.tsx'
import { RoleLegend } from '../parts/subnet-bar.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { Loading, LoadProblem, ViewHead } from '../parts/view.tsx'
import { ZoomBar } from '../parts/zoom-bar.tsx'
import { linkTo, param, setParams } from '../state/location.ts'
import { useResource } from '../state/resource.ts'

interface NetworkMapProps {
  readonly cloud: string
  readonly network: string
}

export function NetworkMap({ cloud, network }: NetworkMapProps): JSX.Element {
  const key = `${cloud}/${network}`
  const { value, problem } = useResource<NetworkDocument>(
    fillRoute('network', { cloud, network }),
    (event) => event.kind === 'changed' && event.route === 'network' && (event.key ?? key) === key,
  )
  if (value) return <NetworkPage document={value} />
  return problem ? <LoadProblem problem={problem} /> : <Loading />
}

function NetworkPage({ document }: { readonly document: NetworkDocument }): JSX.Element {
  const { cloud, network, command, notes, subnets } = document
  const [filter, mode] = [param('filter'), param('mode')]
  const all = subnets.flatMap(({ marks }) => marks)
  const shown = all.filter(
    (mark) =>
      isShown(mark, mode) &&
      matchesFilter(filter, [mark.id, mark.kind, mark.state, ...mark.planned, ...mark.live, mark.reason]),
  )
  const ids = new Set(shown.map(({ id }) => id))
  return (
    <>
      <ViewHead title={`${cloud} ${network}`} summary={<Path cloud={cloud} />} command={command} notes={notes} />
      <div class="tools">
        <ModeChoice hasLive={document.hasLive} />
        <Filter label="Filter addresses" shown={shown.length} total={all.length} />
        <RoleLegend hasLive={document.hasLive} />
      </div>
      {subnets.map((subnet) => (
        <Panel
          key={subnet.id}
          title={`${subnet.subnet} ${subnet.cidr}`}
          more={<SubnetFacts document={document} subnet={subnet} />}
        >
          <ZoomBar subnet={subnet} marks={subnet.marks.filter(({ id }) => ids.has(id))} />
        </Panel>
      ))}
      <Panel title="Addresses">
        <Table
          caption="Addresses"
          columns={columns}
          rows={shown}
          keyOf={({ id }) => id}
          linkOf={({ id }) => linkTo('addresses', { cloud, network, mode, filter, selected: id })}
          onOpen={({ id }) => setParams({ selected: id })}
          selected={param('selected')}
          empty={
            mode === 'difference' && filter === '' ? 'Plan and cluster agree on every address.' : 'No address matches.'
          }
          cards
        />
      </Panel>
    </>
  )
}

interface SubnetFactsProps {
  readonly document: NetworkDocument
  readonly subnet: NetworkDocument['subnets'][number]
}

function SubnetFacts({ document, subnet }: SubnetFactsProps): JSX.Element {
  const facts = [
    subnet.vlan === undefined ? 'untagged' : `VLAN ${subnet.vlan}`,
    `interface ${document.interface}`,
    `MTU ${document.mtu}`,
    subnet.gateway && `gateway ${subnet.gateway}`,
    document.pool && `pool ${document.pool}`,
  ]
  return (
    <span class="quiet">
      {facts.filter(Boolean).join(' · ')}
      {subnet.segment && (
        <>
          {' · segment '}
          <a href={linkTo('topology', { selected: `segment:${subnet.segment}` })}>{subnet.segment}</a>
        </>
      )}
    </span>
  )
}

function isShown({ planned, live, state }: AddressMark, mode: string): boolean {
  if (mode === 'plan') return planned.length > 0
  if (mode === 'live') return live.length > 0
  return mode !== 'difference' || !(state === 'same' || state === 'planned')
}

function Path({ cloud }: { readonly cloud: string }): JSX.Element {
  return (
    <>
      <a href={linkTo('addresses', { mode: param('mode') })}>all clouds</a>
      {' / '}
      <a href={linkTo('addresses', { cloud, mode: param('mode') })}>{cloud}</a>
    </>
  )
}

/** Pods and hosts without a plan of their own get any address of their span. */
function plannedText({ planned, state, kind }: AddressMark): string {
  return planned.join(', ') || (state === 'same' ? `any ${kind}` : '–')
}

const columns: readonly Column<AddressMark>[] = [
  { title: 'Address', kind: 'code', cell: ({ id }) => id },
  { title: 'Kind', cell: ({ kind }) => kind },
  { title: 'State', cell: ({ state }) => <Mark state={state} /> },
  { title: 'Planned', kind: 'wide', cell: plannedText },
  { title: 'Live', kind: 'wide', cell: ({ live }) => live.join(', ') || '–' },
  { title: 'Reason', kind: 'wide', cell: ({ reason }) => reason ?? '' },
]
