/** Run: a running or recorded run as a grid, a timeline and a graph, with its log; a slider replays it. */
import { useComputed, useSignal } from '@preact/signals'
import type { JSX } from 'preact'
import { useEffect, useMemo } from 'preact/hooks'
import type { RunDocument, RunLine } from '../../src/console/documents/runs.ts'
import { fillRoute } from '../../src/console/routes.ts'
import type { RunEvent } from '../../src/run/events.ts'
import type { RunView as FoldedRun } from '../../src/run/run-view.ts'
import { Choice } from '../parts/choice.tsx'
import { CommandLine } from '../parts/command-line.tsx'
import { formatDuration, formatTime, plural } from '../parts/format.ts'
import { Mark } from '../parts/mark.tsx'
import { Empty, Panel } from '../parts/panel.tsx'
import { Sentence } from '../parts/sentence.tsx'
import { Loading, LoadProblem, ViewHead, WithDocument } from '../parts/view.tsx'
import { linkTo, param, setParams } from '../state/location.ts'
import { useResource } from '../state/resource.ts'
import { foldEvents, useRunEvents } from '../state/run-events.ts'
import { useDocument } from '../state/store.ts'
import { RunGraph } from './run-graph.tsx'
import { RunGrid } from './run-grid.tsx'
import { RunLog } from './run-log.tsx'
import { StageDetails, StagePods } from './run-stage.tsx'
import { RunTimeline } from './run-timeline.tsx'

export function RunView(): JSX.Element {
  return (
    <WithDocument view="run" loaded={useDocument('runs')}>
      {({ runs, command, notes }) => {
        const chosen = param('run') || runs[0]?.id
        if (chosen === undefined) {
          return (
            <>
              <ViewHead title="Run" command={command} notes={notes} />
              <Empty title="No run is known">
                <p>A run that is started in a terminal appears here.</p>
              </Empty>
            </>
          )
        }
        return <OneRun key={chosen} run={chosen} runs={runs} />
      }}
    </WithDocument>
  )
}

function OneRun({ run, runs }: { readonly run: string; readonly runs: readonly RunLine[] }): JSX.Element {
  const { value: document, problem } = useResource<RunDocument>(
    fillRoute('run', { run }),
    (event) => event.kind === 'run' && event.run === run,
  )
  const { events, problem: eventsProblem } = useRunEvents(run)
  const failure = problem ?? eventsProblem
  if (failure && !document) return <LoadProblem problem={failure} />
  if (!document) return <Loading />
  return <RunPage document={document} events={events} runs={runs} />
}

interface RunPageProps {
  readonly document: RunDocument
  readonly events: readonly RunEvent[]
  readonly runs: readonly RunLine[]
}

function RunPage({ document, events, runs }: RunPageProps): JSX.Element {
  const { run, command, notes } = document
  const until = shownEvents(events.length)
  const shown = useMemo(() => (until === events.length ? events : events.slice(0, until)), [events, until])
  const folded = useMemo(() => foldEvents(shown), [shown])
  const isLive = run.state === 'running' && until === events.length
  const now = useNow(isLive)
  const end = isLive ? Math.max(now, folded.lastEventAt) : folded.lastEventAt
  const layout = param('layout')
  const selected = param('selected')
  return (
    <>
      <ViewHead
        title={run.what}
        summary={<RunState folded={folded} document={document} end={end} />}
        command={command}
        notes={notes}
      />
      <div class="tools">
        {runs.length > 1 && <RunChoice run={run.id} runs={runs} />}
        <Choice
          label="Layout"
          name="layout"
          values={[
            ['', 'Grid'],
            ['timeline', 'Timeline'],
            ['graph', 'Graph'],
          ]}
        />
        <Replay events={events} until={until} />
      </div>
      <NextCommand document={document} folded={folded} />
      <Panel
        title={layout === 'timeline' ? 'Timeline' : layout === 'graph' ? 'Stages and what they wait for' : 'Stages'}
        more={layout !== '' && document.criticalPath.length > 0 && <CriticalLegend layout={layout} />}
      >
        {layout === 'timeline' ? (
          <RunTimeline folded={folded} document={document} end={end} />
        ) : layout === 'graph' ? (
          <RunGraph folded={folded} critical={document.criticalPath} />
        ) : (
          <RunGrid folded={folded} end={end} />
        )}
      </Panel>
      <div class="split wide-left">
        <RunLog events={shown} />
        <StageDetails folded={folded} document={document} selected={selected} end={end} />
      </div>
      <StagePods folded={folded} document={document} selected={selected} />
    </>
  )
}

function CriticalLegend({ layout }: { readonly layout: string }): JSX.Element {
  return (
    <span class="legend">
      <span class={`swatch critical on-${layout}`} />
      critical path
    </span>
  )
}

/** How many events the slider shows; all of them unless it was moved back. */
function shownEvents(total: number): number {
  const moved = Number(param('until'))
  return param('until') !== '' && moved >= 0 && moved < total ? Math.floor(moved) : total
}

/** The time, twice a second while a run is running. */
function useNow(active: boolean): number {
  const now = useSignal(Date.now())
  useEffect(() => {
    if (!active) return undefined
    const timer = setInterval(() => {
      now.value = Date.now()
    }, 500)
    return () => clearInterval(timer)
  }, [active])
  return now.value
}

interface RunStateProps {
  readonly folded: FoldedRun
  readonly document: RunDocument
  readonly end: number
}

function RunState({ folded, document, end }: RunStateProps): JSX.Element {
  const { estimate, run } = document
  const state = folded.outcome ?? (run.state === 'interrupted' ? 'interrupted' : 'running')
  const stages = [...folded.stages.values()]
  const finished = stages.filter((stage) => stage.state === 'done' || stage.state === 'skipped').length
  return (
    <span class="run-state">
      <Mark state={state} />
      <span>{`${finished} of ${stages.length} stages`}</span>
      {folded.startedAt > 0 && (
        <span>{`${formatTime(folded.startedAt)}, ${formatDuration(end - folded.startedAt)}`}</span>
      )}
      {estimate && state === 'running' && (
        <span>{`about ${formatDuration(estimate.leftMs)} left, from ${plural(estimate.runs, 'earlier run')}`}</span>
      )}
    </span>
  )
}

function RunChoice({ run, runs }: { readonly run: string; readonly runs: readonly RunLine[] }): JSX.Element {
  return (
    <select
      aria-label="Run"
      value={run}
      onChange={(event) => {
        location.hash = linkTo('run', { run: event.currentTarget.value, layout: param('layout') })
      }}
    >
      {runs.map(({ id, what, state, startedAt }) => (
        <option key={id} value={id}>
          {`${formatTime(startedAt)}  ${what}  ${state}`}
        </option>
      ))}
    </select>
  )
}

/** Moves through the events; at the end the view follows the run again. */
function Replay({ events, until }: { readonly events: readonly RunEvent[]; readonly until: number }): JSX.Element {
  const time = events[Math.max(0, until - 1)]?.time
  const atEnd = useComputed(() => param('until') === '')
  return (
    <label class="replay">
      <span>{atEnd.value ? 'Replay' : formatTime(time ?? '')}</span>
      <input
        type="range"
        min={0}
        max={events.length}
        value={until}
        aria-valuetext={time === undefined ? 'begin' : `${formatTime(time)}, event ${until} of ${events.length}`}
        onInput={(event) => {
          const value = Number(event.currentTarget.value)
          setParams({ until: value >= events.length ? '' : String(value) }, 'replace')
        }}
      />
    </label>
  )
}

function NextCommand({
  document,
  folded,
}: {
  readonly document: RunDocument
  readonly folded: FoldedRun
}): JSX.Element | null {
  // A run whose process is gone has no last event that says so.
  const isOver = (folded.outcome ?? 'done') !== 'done' || document.run.state === 'interrupted'
  if (!document.next || !isOver) return null
  return (
    <p class="notice bad-notice">
      <b>Next</b>
      <CommandLine command={document.next} />
      {document.remedy !== undefined && (
        <span class="wrap">
          <Sentence text={document.remedy} />
        </span>
      )}
    </p>
  )
}
