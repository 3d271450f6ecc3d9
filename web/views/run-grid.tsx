/** Stages by clouds as a grid: what is shared first, then one row per cloud. */
import type { JSX } from 'preact'
import { groupStages, type RunView, type StageGroup, type StageView } from '../../src/run/run-view.ts'
import { formatDuration } from '../parts/format.ts'
import { Mark } from '../parts/mark.tsx'
import { linkTo, route } from '../state/location.ts'

/** In pixels: a wide screen must not part the stages of a cloud. */
const [NAME_WIDTH, STAGE_WIDTH] = [96, 212]

export function RunGrid({ folded, end }: { readonly folded: RunView; readonly end: number }): JSX.Element {
  return (
    <>
      {tablesOf(groupStages(folded)).map(({ names, groups }) => (
        <div class="scroll" key={names.join()}>
          <table class="grid" style={{ maxWidth: `${NAME_WIDTH + names.length * STAGE_WIDTH}px` }}>
            <caption class="unseen">Stages by cloud</caption>
            <thead>
              <tr>
                <th scope="col">{groups[0]?.cloud === undefined ? 'Shared' : 'Cloud'}</th>
                {names.map((name) => (
                  <th scope="col" key={name}>
                    {name}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {groups.map(({ cloud, stages }) => (
                <tr key={cloud ?? ''}>
                  <th scope="row">{cloud ?? 'all clouds'}</th>
                  {stages.map((stage) => (
                    <td key={stage.id} data-title={stage.name}>
                      <StageCell stage={stage} end={end} />
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      ))}
    </>
  )
}

interface StageTable {
  readonly names: readonly string[]
  readonly groups: readonly StageGroup[]
}

/** Groups with the same stages share a table. */
function tablesOf(groups: readonly StageGroup[]): readonly StageTable[] {
  const tables = new Map<string, { readonly names: readonly string[]; readonly groups: StageGroup[] }>()
  for (const group of groups) {
    const names = group.stages.map(({ name }) => name)
    const table = tables.get(names.join())
    if (table) table.groups.push(group)
    else tables.set(names.join(), { names, groups: [group] })
  }
  return [...tables.values()]
}

function StageCell({ stage, end }: { readonly stage: StageView; readonly end: number }): JSX.Element {
  const { id, state, reason, progress } = stage
  const time = stage.ms ?? (state === 'running' && stage.startedAt !== undefined ? end - stage.startedAt : undefined)
  return (
    <a
      data-item
      class={`stage ${state}`}
      href={linkTo('run', { ...route.value.params, selected: id })}
      aria-current={route.value.params['selected'] === id ? 'true' : undefined}
      title={reason}
    >
      <Mark state={state} />
      <span class="quiet number">
        {progress && state === 'running' ? `${progress.done}/${progress.total} ` : ''}
        {time === undefined || state === 'blocked' ? '' : formatDuration(Math.max(0, time))}
      </span>
      {reason && state !== 'done' && state !== 'skipped' && <span class="quiet clamp">{reason}</span>}
    </a>
  )
}
