/** The selected item of the topology: its facts, its L2 domain, what fails with it, and the probes of its edges. */
import type { JSX } from 'preact'
import type { TopologyDocument, TopologyItem, TopologyItemDocument } from '../../src/console/documents/topology.ts'
import { Mark } from '../parts/mark.tsx'
import { Facts, Panel } from '../parts/panel.tsx'
import { linkTo } from '../state/location.ts'

interface ItemDetailsProps {
  readonly document: TopologyDocument
  readonly chosen: TopologyItemDocument | undefined
  readonly selected: string
}

export function ItemDetails({ document, chosen, selected }: ItemDetailsProps): JSX.Element {
  const item = document.items.find(({ id }) => id === selected)
  if (!item) {
    return (
      <Panel title="Nothing is selected">
        <p class="body quiet">
          {'Select an item to see what it touches in all clouds, its L2 domain, and what fails with it.'}
        </p>
      </Panel>
    )
  }
  return (
    <div class="columns">
      <Panel title={item.label} more={<span class="tag">{item.kind}</span>}>
        <div class="body stack">
          <Facts
            of={[
              ['cloud', item.cloud],
              ['state', item.state && <Mark state={item.state} />],
              ['reason', item.reason],
            ]}
          />
          <ul class="tight">
            {item.details.map((line) => (
              <li key={line} class="wrap">
                {line}
              </li>
            ))}
          </ul>
          {item.link && <a href={linkTo(item.link.view, item.link.query)}>{`Open in ${item.link.view}`}</a>}
        </div>
      </Panel>
      {chosen && <Falls falls={chosen.falls} />}
      {chosen && <Neighbours title="L2 domain" ids={chosen.l2} items={document.items} />}
      <Probes document={document} item={item} />
    </div>
  )
}

function Falls({ falls }: { readonly falls: TopologyItemDocument['falls'] }): JSX.Element | null {
  if (falls.clouds.length + falls.vips.length + falls.hosts.length === 0) return null
  return (
    <Panel title="What fails with it">
      <div class="body stack">
        <p>{falls.text}</p>
        <Facts
          of={[
            ['clouds', falls.clouds.join(', ')],
            ['VIPs', shorten(falls.vips)],
            ['hosts', shorten(falls.hosts)],
          ]}
        />
      </div>
    </Panel>
  )
}

const SHOWN = 30

function shorten(names: readonly string[]): string {
  const more = names.length - SHOWN
  return names.slice(0, SHOWN).join(', ') + (more > 0 ? ` and ${more} more` : '')
}

/** NICs and bonds have the same name on many nodes; their first detail is the node. */
function isPort(kind: TopologyItem['kind']): boolean {
  return kind === 'nic' || kind === 'bond'
}

interface NeighboursProps {
  readonly title: string
  readonly ids: readonly string[]
  readonly items: readonly TopologyItem[]
}

function Neighbours({ title, ids, items }: NeighboursProps): JSX.Element | null {
  const known = new Set(ids)
  const found = items.filter(({ id }) => known.has(id))
  if (found.length === 0) return null
  return (
    <Panel title={title} more={<span class="count">{found.length}</span>}>
      <ul class="body tight">
        {found.slice(0, SHOWN).map(({ id, kind, label, cloud = '', details }) => (
          <li key={id}>
            <a href={linkTo('topology', { selected: id })}>{label}</a>
            <span class="quiet">{[` ${kind}`, isPort(kind) ? details[0] : cloud].filter(Boolean).join(', ')}</span>
          </li>
        ))}
        {found.length > SHOWN && <li class="quiet">{`and ${found.length - SHOWN} more`}</li>}
      </ul>
    </Panel>
  )
}

function Probes({
  document,
  item,
}: {
  readonly document: TopologyDocument
  readonly item: TopologyItem
}): JSX.Element | null {
  const probed = document.edges.filter(({ from, to, probe }) => probe && (from === item.id || to === item.id))
  if (probed.length === 0) return null
  return (
    <Panel title="Last probe">
      <ul class="body tight">
        {probed.map(({ id, probe }) => (
          <li key={id}>
            <Mark state={probe?.verdict ?? 'unknown'} label={probe?.text ?? ''} />
          </li>
        ))}
      </ul>
    </Panel>
  )
}
