/** Lab: VMs, stages, services, endpoints and certificates of a lab on this machine. */
import type { JSX } from 'preact'
import type { LabDocument } from '../../src/console/documents/lab.ts'
import { Mark } from '../parts/mark.tsx'
import { Facts, Panel } from '../parts/panel.tsx'
import { Sentence } from '../parts/sentence.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { ViewHead, WithDocument } from '../parts/view.tsx'
import { useDocument } from '../state/store.ts'

export function LabView(): JSX.Element {
  const { value: meta } = useDocument('meta')
  const isGiven = meta?.views.some(({ id, available }) => id === 'lab' && available) ?? false
  return isGiven ? <GivenLab /> : <WithDocument view="lab" loaded={{}} children={() => null} />
}

function GivenLab(): JSX.Element {
  return (
    <WithDocument view="lab" loaded={useDocument('lab')}>
      {(document) => <Lab document={document} />}
    </WithDocument>
  )
}

function Lab({ document }: { readonly document: LabDocument }): JSX.Element {
  const { name, nodes, stages, services, endpoints, certificates, disk, findings, command, notes } = document
  const enabled = services.filter((service) => service.enabled)
  return (
    <>
      <ViewHead title="Lab" summary={name} command={command} notes={notes} />
      {findings.length > 0 && (
        <Panel title="Findings">
          <ul class="attention">
            {findings.map(({ code, severity, message, remedy }) => (
              <li key={`${code} ${message}`} class={severity}>
                <Mark state={severity} short />
                <div>
                  <p class="wrap">{`${code} ${message}`}</p>
                  <p class="quiet wrap">
                    <Sentence text={remedy} />
                  </p>
                </div>
              </li>
            ))}
          </ul>
        </Panel>
      )}
      <Panel title="Virtual machines">
        <Table caption="Virtual machines" columns={nodeColumns} rows={nodes} keyOf={({ id }) => id} cards />
      </Panel>
      <div class="columns">
        {stages.length > 0 && (
          <Panel title="Stages">
            <ol class="body tight">
              {stages.map(({ id, name: stage, state }) => (
                <li key={id} class="path-step">
                  <span>{stage}</span>
                  <Mark state={state} />
                </li>
              ))}
            </ol>
          </Panel>
        )}
        <Panel title="Endpoints">
          <Table caption="Endpoints" columns={endpointColumns} rows={endpoints} keyOf={({ id }) => id} />
        </Panel>
        {certificates.length > 0 && (
          <Panel title="Certificates">
            <Table caption="Certificates" columns={certificateColumns} rows={certificates} keyOf={({ id }) => id} />
          </Panel>
        )}
        <Panel title="Services" more={<span class="quiet">{`${enabled.length} of ${services.length} enabled`}</span>}>
          <p class="body wrap">{enabled.map((service) => service.name).join(', ')}</p>
        </Panel>
        <Panel title="Disk">
          <div class="body">
            <Facts
              of={[
                ['used', `${disk.usedGiB} GiB`],
                ['nominal', `${disk.nominalGiB} GiB`],
                ['images', disk.glanceGiB === undefined ? undefined : `${disk.glanceGiB} GiB`],
              ]}
            />
          </div>
        </Panel>
      </div>
    </>
  )
}

const nodeColumns: readonly Column<LabDocument['nodes'][number]>[] = [
  { title: 'VM', kind: 'code', cell: ({ name }) => name },
  { title: 'State', cell: ({ status }) => <Mark state={status.toLowerCase()} label={status} /> },
  { title: 'Roles', cell: ({ roles }) => roles.join(', ') },
  { title: 'Address', kind: 'code', cell: ({ address }) => address },
  { title: 'Disk', kind: 'number', cell: ({ usedGiB, nominalGiB }) => `${usedGiB ?? '–'} of ${nominalGiB} GiB` },
  { title: 'Next', kind: 'wide', cell: ({ next }) => (next === '-' ? '–' : next) },
]

const endpointColumns: readonly Column<LabDocument['endpoints'][number]>[] = [
  { title: 'Service', cell: ({ name }) => name },
  { title: 'URL', kind: 'code', cell: ({ url }) => url },
]

const certificateColumns: readonly Column<LabDocument['certificates'][number]>[] = [
  { title: 'Certificate', kind: 'code', cell: ({ name }) => name },
  { title: 'Verdict', cell: ({ verdict }) => <Mark state={verdict} /> },
  { title: 'Days left', kind: 'number', cell: ({ daysLeft }) => daysLeft },
]
