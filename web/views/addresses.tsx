/** Address map: every subnet of every cloud as a bar; many clouds fold to cells; one network shows its addresses. */
import type { JSX } from 'preact'
import type { AddressesDocument, SubnetBar as Subnet } from '../../src/console/documents/addresses.ts'
import { Filter, matchesFilter } from '../parts/filter.tsx'
import { formatPercent, plural } from '../parts/format.ts'
import { Mark } from '../parts/mark.tsx'
import { ModeChoice } from '../parts/mode-choice.tsx'
import { Panel } from '../parts/panel.tsx'
import { RoleLegend, Sparkline, SubnetBar } from '../parts/subnet-bar.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { ViewHead, WithDocument } from '../parts/view.tsx'
import { linkTo, param } from '../state/location.ts'
import { useDocument } from '../state/store.ts'
import { NetworkMap } from './network-map.tsx'

/** More clouds than this are shown as one row of cells each. */
const UNFOLDED_CLOUDS = 8

export function AddressesView(): JSX.Element {
  const [cloud, network] = [param('cloud'), param('network')]
  const loaded = useDocument('addresses')
  if (cloud && network) return <NetworkMap cloud={cloud} network={network} />
  return (
    <WithDocument view="addresses" loaded={loaded}>
      {(document) => <AddressMap document={document} />}
    </WithDocument>
  )
}

function AddressMap({ document }: { readonly document: AddressesDocument }): JSX.Element {
  const { subnets, clouds, command, notes, oneMore } = document
  const [cloud, filter, mode] = [param('cloud'), param('filter'), param('mode')]
  const shown = subnets.filter(
    (subnet) =>
      (cloud === '' || subnet.cloud === cloud) &&
      (mode !== 'difference' || subnet.problems + subnet.unused > 0) &&
      matchesFilter(filter, [subnet.cloud, subnet.network, subnet.cidr, subnet.segment, subnet.pool]),
  )
  const shownClouds = clouds.filter(({ name }) => shown.some((subnet) => subnet.cloud === name))
  const folded = cloud === '' && shownClouds.length > UNFOLDED_CLOUDS && param('layout') !== 'bars'
  return (
    <>
      <ViewHead title="Addresses" summary={oneMore.text} command={command} notes={notes} />
      <div class="tools">
        <ModeChoice hasLive={document.hasLive} />
        <Filter label="Filter subnets" shown={shown.length} total={subnets.length} />
        {cloud && (
          <a class="tag" href={linkTo('addresses', { mode })}>
            {`only ${cloud}, show all clouds`}
          </a>
        )}
        <RoleLegend hasLive={document.hasLive}>
          {mode !== 'plan' && mode !== 'live' && <li>% of the fullest span</li>}
        </RoleLegend>
      </div>
      {shown.length === 0 && <p class="empty">{emptyText(mode, filter, subnets.length)}</p>}
      {folded ? (
        <FoldedClouds document={document} clouds={shownClouds.map(({ name }) => name)} shown={shown} />
      ) : (
        shownClouds.map(({ id, name, namespace }) => (
          <Panel key={id} title={name} more={<span class="quiet">{`namespace ${namespace}`}</span>}>
            <ul class="bars">
              {shown
                .filter((subnet) => subnet.cloud === name)
                .map((subnet) => (
                  <BarRow key={subnet.id} subnet={subnet} />
                ))}
            </ul>
          </Panel>
        ))
      )}
      <Supernets document={document} />
    </>
  )
}

function emptyText(mode: string, filter: string, total: number): string {
  if (total === 0) return 'The site has no subnet yet, because it has no cloud.'
  return mode === 'difference' && filter === '' ? 'Plan and cluster agree on every address.' : 'No subnet matches.'
}

function BarRow({ subnet }: { readonly subnet: Subnet }): JSX.Element {
  const { cloud, network, cidr, vlan, problems, unused, fraction } = subnet
  return (
    <li class="bar-row">
      <a data-item class="bar-name" href={linkTo('addresses', { cloud, network, mode: param('mode') })}>
        <b>{network}</b>
        <span class="quiet">{vlan === undefined ? 'untagged' : `VLAN ${vlan}`}</span>
      </a>
      <span class="code bar-cidr">{cidr}</span>
      <SubnetBar subnet={subnet} />
      <span class="number quiet bar-use">{useText(subnet)}</span>
      <span class="bar-state">
        {problems > 0 ? (
          <Mark state="error" label={plural(problems, 'problem')} />
        ) : fraction >= 1 ? (
          <Mark state="warning" label="full" />
        ) : unused > 0 ? (
          <Mark state="unused" label={`${unused} unused`} />
        ) : null}
      </span>
    </li>
  )
}

/** The use of the fullest span, as the chosen mode counts. */
function useText({ spans, fraction }: Subnet): string {
  const mode = param('mode')
  if (mode === 'plan') return `${spans.reduce((sum, { planned }) => sum + planned, 0)} planned`
  if (mode === 'live') return `${spans.reduce((sum, { live }) => sum + (live ?? 0), 0)} live`
  return formatPercent(fraction)
}

interface FoldedCloudsProps {
  readonly document: AddressesDocument
  readonly clouds: readonly string[]
  readonly shown: readonly Subnet[]
}

function FoldedClouds({ document, clouds, shown }: FoldedCloudsProps): JSX.Element {
  const networks = document.networks.filter((network) => shown.some((subnet) => subnet.network === network))
  const cells = new Map<string, Subnet>()
  for (const subnet of shown) {
    const key = `${subnet.cloud}/${subnet.network}`
    const known = cells.get(key)
    if (!known || isWorse(subnet, known)) cells.set(key, subnet)
  }
  return (
    <Panel title={`${clouds.length} clouds, fullest first`}>
      <div class="scroll">
        <div
          class="cells"
          role="table"
          aria-label="Use of subnets by cloud and network"
          style={{ '--columns': networks.length }}
        >
          <div role="row">
            <span role="columnheader">Cloud</span>
            {networks.map((network) => (
              <span role="columnheader" key={network}>
                {network}
              </span>
            ))}
          </div>
          {clouds.map((cloud) => (
            <div role="row" key={cloud}>
              <span role="rowheader">
                <a data-item href={linkTo('addresses', { cloud, mode: param('mode') })}>
                  {cloud}
                </a>
              </span>
              {networks.map((network) => (
                <span role="cell" key={network}>
                  <Cell subnet={cells.get(`${cloud}/${network}`)} />
                </span>
              ))}
            </div>
          ))}
        </div>
      </div>
    </Panel>
  )
}

/** A network may have a subnet of each family; its cell shows the one to look at first. */
function isWorse({ problems, fraction }: Subnet, than: Subnet): boolean {
  return problems === than.problems ? fraction > than.fraction : problems > than.problems
}

function Cell({ subnet }: { readonly subnet: Subnet | undefined }): JSX.Element {
  if (!subnet) return <span class="quiet">–</span>
  const { cloud, network, cidr, fraction, problems } = subnet
  const tone = problems > 0 ? 'bad' : fraction >= 0.8 ? 'warn' : ''
  return (
    <a
      class={`cell ${tone}`}
      href={linkTo('addresses', { cloud, network, mode: param('mode') })}
      title={`${network} ${cidr}`}
    >
      <Sparkline subnet={subnet} />
      <span class="number">{problems > 0 ? plural(problems, 'problem') : formatPercent(fraction)}</span>
    </a>
  )
}

type Supernet = AddressesDocument['supernets'][number]

const supernetColumns: readonly Column<Supernet>[] = [
  { title: 'Network', cell: ({ id, cidr }) => id.slice(0, -cidr.length - 1) },
  { title: 'Supernet', kind: 'code', cell: ({ cidr }) => cidr },
  { title: 'Subnet size', kind: 'number', cell: ({ prefix }) => `/${prefix}` },
  { title: 'Used', kind: 'number', cell: ({ used }) => used },
  { title: 'Free', kind: 'number', cell: ({ free }) => free },
  { title: 'Of', kind: 'number', cell: ({ of }) => of },
]

function Supernets({ document }: { readonly document: AddressesDocument }): JSX.Element | null {
  const { supernets, oneMore } = document
  if (supernets.length === 0) return null
  const fits = <Mark state={oneMore.fits ? 'ok' : 'error'} label={oneMore.text} />
  return (
    <Panel title="Supernets" more={fits}>
      <Table caption="Supernets" columns={supernetColumns} rows={supernets} keyOf={({ id }) => id} cards />
    </Panel>
  )
}
