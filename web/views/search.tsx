/** Search: the owner of an address, or which addresses a name has, with the reason, as `stackloom ip` answers it. */
import type { JSX } from 'preact'
import type { SearchDocument } from '../../src/console/documents/search.ts'
import { fillRoute } from '../../src/console/routes.ts'
import { formatTime } from '../parts/format.ts'
import { Mark } from '../parts/mark.tsx'
import { Empty, Facts, Panel } from '../parts/panel.tsx'
import { Sentence } from '../parts/sentence.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { Loading, LoadProblem, ViewHead } from '../parts/view.tsx'
import { linkTo, param } from '../state/location.ts'
import { useResource } from '../state/resource.ts'

type Answer = SearchDocument['answers'][number]
type AddressAnswer = Extract<Answer, { kind: 'address' }>
type NameAnswer = Extract<Answer, { kind: 'name' }>

export function SearchView(): JSX.Element {
  const query = param('q')
  const { value, problem } = useResource<SearchDocument>(
    query === '' ? '' : `${fillRoute('search')}?q=${encodeURIComponent(query)}`,
    (event) => event.kind === 'changed' && event.route === 'network',
  )
  if (query === '') return <Empty title="Type an address, or the name of a host, node, slot or Service" />
  if (!value) return problem ? <LoadProblem problem={problem} /> : <Loading />
  return <Answers document={value} />
}

function Answers({ document }: { readonly document: SearchDocument }): JSX.Element {
  const { query, answers, live, findings, suggestion, text, command, notes } = document
  return (
    <>
      <ViewHead title={query} command={command} notes={notes} />
      <p class="answer" role="status">
        {text}
      </p>
      {suggestion && (
        <p class="answer">
          {'Did you mean '}
          <a data-item href={linkTo('search', { q: suggestion })}>
            {suggestion}
          </a>
        </p>
      )}
      {answers.map((answer, index) => (
        <AnswerPanel key={index} answer={answer} />
      ))}
      {live && live.length > 0 && <LiveHolders live={live} />}
      {findings.map(({ code, severity, message, remedy }) => (
        <p class="notice" key={`${code} ${message}`}>
          <Mark state={severity} label={code} />
          <span class="wrap">{message}</span>
          <span class="quiet wrap">
            <Sentence text={remedy} />
          </span>
        </p>
      ))}
    </>
  )
}

function AnswerPanel({ answer }: { readonly answer: Answer }): JSX.Element {
  if (answer.kind === 'address') return <AddressPanel answer={answer} />
  if (answer.kind === 'name') {
    return (
      <Panel title={answer.name}>
        <Table
          caption={`Addresses of ${answer.name}`}
          columns={nameColumns}
          rows={answer.addresses}
          keyOf={({ address, cloud, network, holder }) => [address, cloud, network, holder].join()}
          linkOf={({ link }) => linkTo(link.view, link.query)}
          cards
        />
      </Panel>
    )
  }
  return (
    <Panel title={answer.address}>
      <p class="body">{`In the cluster's ${answer.use} network ${answer.cidr}`}</p>
    </Panel>
  )
}

function AddressPanel({ answer }: { readonly answer: AddressAnswer }): JSX.Element {
  const { address, holders, because, cloud, namespace, network, subnet, segment, role, span, free, link } = answer
  const beside = [free.before && `${free.before} below`, free.after && `${free.after} above`].filter(Boolean).join(', ')
  return (
    <Panel
      title={address}
      more={
        <a data-item href={linkTo(link.view, link.query)}>
          Show on the map
        </a>
      }
    >
      <div class="body">
        <Facts
          of={[
            ['owner', holders.join(', ') || (role === 'pods' ? 'a pod, if whereabouts gave it out' : 'none')],
            ['because', because],
            ['cloud', `${cloud} (namespace ${namespace})`],
            ['network', `${network}, ${subnet}${segment ? `, segment ${segment}` : ''}`],
            ['span', role ? `${role}${span ? ` ${span}` : ''}` : 'none: between the spans'],
            ['free', `${free.count} of ${free.of}${beside ? ` (nearest: ${beside})` : ''}`],
          ]}
        />
      </div>
    </Panel>
  )
}

const nameColumns: readonly Column<NameAnswer['addresses'][number]>[] = [
  { title: 'Address', kind: 'code', cell: ({ address }) => address },
  { title: 'Cloud', cell: ({ cloud }) => cloud },
  { title: 'Network', cell: ({ network }) => network },
  { title: 'Holder', cell: ({ role, holder }) => `${role} ${holder}` },
]

function LiveHolders({ live }: { readonly live: NonNullable<SearchDocument['live']> }): JSX.Element {
  const rows = live.flatMap(({ address, holders }) => holders.map((holder) => ({ address, ...holder })))
  return (
    <Panel title="In the cluster">
      {rows.length === 0 ? (
        <p class="body quiet">Nothing in the cluster has it.</p>
      ) : (
        <Table
          caption="Holders in the cluster"
          columns={liveColumns}
          rows={rows}
          keyOf={(row) => [row.address, row.who, row.how].join()}
          cards
        />
      )}
    </Panel>
  )
}

type LiveRow = { readonly address: string } & NonNullable<SearchDocument['live']>[number]['holders'][number]

const liveColumns: readonly Column<LiveRow>[] = [
  { title: 'Address', kind: 'code', cell: ({ address }) => address },
  { title: 'Holder', kind: 'wide', cell: (row) => row.who },
  { title: 'How', cell: ({ kind, how }) => `${kind} it: ${how}` },
  { title: 'Since', kind: 'number', cell: ({ since }) => (since === undefined ? '–' : formatTime(since)) },
]
