/** Hosts: services of every host as a matrix with equal hosts folded, certificates, runs, and IPSets that wait. */
import type { JSX } from 'preact'
import type { DeploymentDocument, HostsDocument, NodeSetLine } from '../../src/console/documents/hosts.ts'
import { fillRoute } from '../../src/console/routes.ts'
import { Filter, matchesFilter } from '../parts/filter.tsx'
import { formatTime, plural } from '../parts/format.ts'
import { Mark } from '../parts/mark.tsx'
import { Empty, Panel } from '../parts/panel.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { UseChart } from '../parts/use-chart.tsx'
import { Loading, LoadProblem, ViewHead, WithDocument } from '../parts/view.tsx'
import { linkTo, param } from '../state/location.ts'
import { useResource } from '../state/resource.ts'
import { useDocument } from '../state/store.ts'

export function HostsView(): JSX.Element {
  return (
    <WithDocument view="hosts" loaded={useDocument('hosts')}>
      {(document) => <Hosts document={document} />}
    </WithDocument>
  )
}

function Hosts({ document }: { readonly document: HostsDocument }): JSX.Element {
  const { nodeSets, summary, command, notes, certificates, deployments, waiting, use } = document
  const filter = param('filter')
  const shown = nodeSets.flatMap((nodeSet) => {
    const groups = nodeSet.groups.filter(({ label, hosts, verdict, reason }) =>
      matchesFilter(filter, [nodeSet.cloud, nodeSet.name, label, verdict, reason, ...(filter === '' ? [] : hosts)]),
    )
    return groups.length > 0 || filter === '' ? [{ ...nodeSet, groups }] : []
  })
  return (
    <>
      <ViewHead title="Hosts" summary={summary} command={command} notes={notes} />
      {nodeSets.length > 0 ? (
        <div class="tools">
          <Filter label="Filter hosts" shown={countHosts(shown)} total={countHosts(nodeSets)} />
        </div>
      ) : notes.length > 0 ? (
        <Empty title="It is not known which hosts there are" />
      ) : (
        <Empty title="No node set is deployed">
          <p>Hosts appear here as soon as the cluster has node sets of the data plane.</p>
        </Empty>
      )}
      {nodeSets.length > 0 && shown.length === 0 && <p class="empty">No host matches.</p>}
      {shown.map((nodeSet) => (
        <Matrix key={nodeSet.id} nodeSet={nodeSet} />
      ))}
      {waiting.length > 0 && (
        <Panel title="IPSets that wait" more={<span class="count warn">{waiting.length}</span>}>
          <Table caption="IPSets that wait" columns={waitingColumns} rows={waiting} keyOf={({ id }) => id} cards />
        </Panel>
      )}
      {deployments.length > 0 && (
        <Panel title="Runs">
          <Table
            caption="Runs"
            columns={deploymentColumns}
            rows={deployments}
            keyOf={({ id }) => id}
            linkOf={({ id }) => linkTo('hosts', { filter, selected: param('selected') === id ? '' : id })}
            selected={param('selected')}
            cards
          />
        </Panel>
      )}
      <DeploymentLogs deployments={deployments} selected={param('selected')} />
      {certificates.length > 0 && (
        <Panel title="Certificates">
          <Table caption="Certificates" columns={certificateColumns} rows={certificates} keyOf={({ id }) => id} cards />
        </Panel>
      )}
      <UseOverTime use={use} />
    </>
  )
}

/** Subnets without a used address are only counted: their lines would all be empty. */
function UseOverTime({ use }: Pick<HostsDocument, 'use'>): JSX.Element | null {
  const drawn = use.filter(({ points }) => points.some(({ used }) => used > 0))
  const empty = use.length - drawn.length
  if (drawn.length === 0) return null
  return (
    <Panel
      title="Addresses of hosts over time"
      more={empty > 0 && <span class="quiet">{`${plural(empty, 'subnet')} without a used address`}</span>}
    >
      <ul class="charts">
        {drawn.map((line) => (
          <li key={line.id}>
            <UseChart title={`${line.cloud} ${line.network}`} of={line.of} points={line.points} />
          </li>
        ))}
      </ul>
    </Panel>
  )
}

function countHosts(nodeSets: readonly NodeSetLine[]): number {
  return nodeSets.reduce((sum, { groups }) => sum + groups.reduce((hosts, group) => hosts + group.hosts.length, 0), 0)
}

function Matrix({ nodeSet }: { readonly nodeSet: NodeSetLine }): JSX.Element {
  const { cloud, name, total, alike, services, groups } = nodeSet
  return (
    <Panel title={`${cloud} ${name}`} more={<span class="quiet">{alike ?? plural(total, 'host')}</span>}>
      <div class="scroll">
        <table class="matrix">
          <caption class="unseen">{`Services of the hosts of ${name}`}</caption>
          <thead>
            <tr>
              <th scope="col">Hosts</th>
              <th scope="col">Verdict</th>
              <th scope="col">Reason</th>
              {services.map((service) => (
                <th scope="col" key={service} class="tilted">
                  <span>{service}</span>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {groups.map(({ id, label, hosts, verdict, reason, cells }) => (
              <tr key={id} data-item tabIndex={0}>
                <th scope="row" class="code" title={hosts.slice(0, 100).join(' ')}>
                  {label} {hosts.length > 1 && <span class="count">{hosts.length}</span>}
                </th>
                <td>
                  <Mark state={verdict} />
                </td>
                <td class="wide wrap">{reason}</td>
                {services.map((service) => {
                  const cell = cells.find((candidate) => candidate.id === service)
                  return (
                    <td key={service} class="service" title={cell?.reason} data-title={service}>
                      {cell ? <Mark state={cell.state} short /> : ''}
                    </td>
                  )
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Panel>
  )
}

type Deployment = HostsDocument['deployments'][number]

function DeploymentLogs({
  deployments,
  selected,
}: {
  readonly deployments: readonly Deployment[]
  readonly selected: string
}): JSX.Element | null {
  const chosen = deployments.find(({ id }) => id === selected)
  const key = chosen && { namespace: chosen.namespace, deployment: chosen.name }
  const { value, problem } = useResource<DeploymentDocument>(
    key ? fillRoute('deployment', key) : '',
    (event) => event.kind === 'changed' && event.route === 'deployment',
  )
  if (!chosen) return null
  if (!value) return problem ? <LoadProblem problem={problem} /> : <Loading />
  return (
    <Panel title={`Output of ${chosen.name}`}>
      {value.notes.map(({ text }) => (
        <p key={text} class="body quiet">
          {text}
        </p>
      ))}
      {value.logs.map(({ id, service, pod, output }) => (
        <details key={id} class="fold" open={value.logs.length === 1}>
          <summary>{`${service}  ${pod}`}</summary>
          <pre class="output" tabIndex={0}>
            {output}
          </pre>
        </details>
      ))}
    </Panel>
  )
}

const deploymentColumns: readonly Column<Deployment>[] = [
  { title: 'Run', kind: 'code', cell: ({ name }) => name },
  { title: 'Cloud', cell: ({ cloud }) => cloud },
  { title: 'State', cell: ({ state }) => <Mark state={state} /> },
  { title: 'Node sets', cell: ({ nodeSets }) => nodeSets.join(', ') },
  { title: 'Started', kind: 'number', cell: ({ createdAt }) => (createdAt ? formatTime(createdAt) : '–') },
  { title: 'Reason', kind: 'wide', cell: ({ reason }) => reason ?? '' },
]

const waitingColumns: readonly Column<HostsDocument['waiting'][number]>[] = [
  { title: 'Owner', kind: 'code', cell: ({ owner }) => owner },
  { title: 'Cloud', cell: ({ cloud }) => cloud },
  { title: 'Network', cell: ({ network }) => network },
  { title: 'Why', kind: 'wide', cell: ({ why }) => why },
]

const certificateColumns: readonly Column<HostsDocument['certificates'][number]>[] = [
  { title: 'Certificate', kind: 'code', cell: ({ name }) => name },
  { title: 'Cloud', cell: ({ cloud }) => cloud },
  { title: 'Verdict', cell: ({ verdict }) => <Mark state={verdict} /> },
  { title: 'Days left', kind: 'number', cell: ({ daysLeft }) => daysLeft ?? '–' },
  { title: 'Until', kind: 'number', cell: ({ notAfter }) => notAfter?.slice(0, 10) ?? '–' },
  { title: 'Older copy in', kind: 'wide', cell: ({ olderCopyIn }) => olderCopyIn || '–' },
]
