/** What every view begins with: its title, the command that prints the same, and what could not be read. */
import type { ComponentChildren, JSX } from 'preact'
import type { Note } from '../../src/console/documents/common.ts'
import type { ViewName } from '../../src/console/routes.ts'
import { type Loaded, type Problem, useDocument } from '../state/store.ts'
import { CommandLine } from './command-line.tsx'
import { Empty } from './panel.tsx'
import { Sentence } from './sentence.tsx'

interface ViewHeadProps {
  readonly title: string
  readonly summary?: ComponentChildren
  readonly command: string
  readonly notes: readonly Note[]
}

export function ViewHead({ title, summary, command, notes }: ViewHeadProps): JSX.Element {
  return (
    <>
      <div class="head">
        <h1>{title}</h1>
        {summary && <span class="quiet">{summary}</span>}
        {command && <CommandLine command={command} />}
      </div>
      {notes.map(({ kind, text }) => (
        <p class="notice" key={text} data-kind={kind}>
          {text}
        </p>
      ))}
    </>
  )
}

interface WithDocumentProps<T> {
  readonly view: ViewName
  readonly loaded: Loaded<T>
  readonly children: (document: T) => ComponentChildren
}

/** Shows the document, or why there is none. */
export function WithDocument<T>({ view, loaded, children }: WithDocumentProps<T>): JSX.Element {
  const { value: meta } = useDocument('meta')
  const known = meta?.views.find(({ id }) => id === view)
  if (known?.available === false) {
    return (
      <>
        <ViewHead title={known.title} command={known.command} notes={[]} />
        <Empty title={known.reason ?? 'Nothing to show'} />
      </>
    )
  }
  if (loaded.value) return <>{children(loaded.value)}</>
  return loaded.problem ? <LoadProblem problem={loaded.problem} /> : <Loading />
}

export function LoadProblem({ problem }: { readonly problem: Problem }): JSX.Element {
  return (
    <Empty title={problem.message}>
      <p>
        <Sentence text={problem.remedy} />
      </p>
      {problem.code && <p class="code">{problem.code}</p>}
    </Empty>
  )
}

export function Loading(): JSX.Element {
  return (
    <p class="empty" role="status">
      Loading
    </p>
  )
}
