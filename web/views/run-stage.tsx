/** One stage: what it waits for and why, the object behind it, and the command that helps. */
import type { JSX } from 'preact'
import type { RunDocument, StageDocument } from '../../src/console/documents/runs.ts'
import { fillRoute } from '../../src/console/routes.ts'
import type { RunView, StageView } from '../../src/run/run-view.ts'
import { CommandLine } from '../parts/command-line.tsx'
import { formatDuration } from '../parts/format.ts'
import { Mark } from '../parts/mark.tsx'
import { Facts, Panel } from '../parts/panel.tsx'
import { linkTo, route } from '../state/location.ts'
import { useResource } from '../state/resource.ts'

interface StageDetailsProps {
  readonly folded: RunView
  readonly document: RunDocument
  readonly selected: string
  readonly end: number
}

export function StageDetails({ folded, document, selected, end }: StageDetailsProps): JSX.Element | null {
  const stage = shownStage(folded, selected)
  if (!stage) return <CriticalPath folded={folded} document={document} />
  const line = document.stages.find(({ id }) => id === stage.id)
  const time = stage.ms ?? (stage.startedAt === undefined ? undefined : end - stage.startedAt)
  const { object, applied } = stage
  const counts = Object.entries(applied).filter(([, count]) => count > 0)
  return (
    <div>
      <Panel title={stage.id} more={<Mark state={stage.state} />}>
        <div class="body stack">
          <Facts
            of={[
              [stage.state === 'running' ? 'waits for' : 'reason', stage.reason?.replace(/^waits for /, '')],
              ['object', object && `${object.kind} ${object.namespace ? `${object.namespace}/` : ''}${object.name}`],
              ['time', time === undefined ? undefined : formatDuration(Math.max(0, time))],
              [
                'earlier runs',
                line?.estimateMs === undefined ? undefined : `${formatDuration(line.estimateMs)} (median)`,
              ],
              ['applied', counts.map(([change, count]) => `${count} ${change}`).join(', ')],
              ['after', stage.after.length > 0 ? <After stage={stage} folded={folded} /> : undefined],
              ['critical', line?.critical ? 'on the critical path' : undefined],
            ]}
          />
          {line?.command && <CommandLine command={line.command} />}
        </div>
      </Panel>
      <CriticalPath folded={folded} document={document} />
    </div>
  )
}

/** The pods behind the object of the stage, as they are now. */
export function StagePods({ folded, document, selected }: Omit<StageDetailsProps, 'end'>): JSX.Element | null {
  const stage = shownStage(folded, selected)
  const run = document.run.id
  const { value } = useResource<StageDocument>(
    stage?.object ? fillRoute('stage', { run, stage: stage.id }) : '',
    (event) => event.kind === 'run' || (event.kind === 'changed' && event.route === 'network'),
  )
  if (!value || value.pods.length === 0) return null
  return (
    <Panel title={`Pods behind ${value.stage}`}>
      {value.pods.map(({ id, container, phase, output, command }, index) => (
        <details key={id} class="fold" open={index === 0}>
          <summary>{[id, container, phase].filter(Boolean).join('  ')}</summary>
          <pre class="output" tabIndex={0}>
            {output || 'It has printed nothing.'}
          </pre>
          <div class="body">
            <CommandLine command={command} />
          </div>
        </details>
      ))}
    </Panel>
  )
}

/** The selected stage, or else the one that matters most now: failed, then running. */
function shownStage(folded: RunView, selected: string): StageView | undefined {
  const stages = [...folded.stages.values()]
  const find = (wanted: StageView['state']): StageView | undefined => stages.find(({ state }) => state === wanted)
  return folded.stages.get(selected) ?? find('failed') ?? find('running')
}

function After({ stage, folded }: { readonly stage: StageView; readonly folded: RunView }): JSX.Element {
  return (
    <ul class="tight">
      {stage.after.map((id) => (
        <li key={id}>
          <a href={linkTo('run', { ...route.value.params, selected: id })}>
            <Mark state={folded.stages.get(id)?.state ?? 'pending'} label={id} />
          </a>
        </li>
      ))}
    </ul>
  )
}

function CriticalPath({ folded, document }: Pick<StageDetailsProps, 'folded' | 'document'>): JSX.Element | null {
  if (document.criticalPath.length === 0) return null
  return (
    <Panel title="Critical path">
      <ol class="body tight">
        {document.criticalPath.map((id) => {
          const stage = folded.stages.get(id)
          return (
            <li key={id} class="path-step">
              <a href={linkTo('run', { ...route.value.params, selected: id })}>
                <Mark state={stage?.state ?? 'pending'} label={id} />
              </a>
              {stage?.ms !== undefined && <span class="quiet number">{formatDuration(stage.ms)}</span>}
            </li>
          )
        })}
      </ol>
    </Panel>
  )
}
