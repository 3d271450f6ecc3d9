/** Findings of plan, verify and doctor in one list by cause, each with evidence, remedy and place. */
import type { JSX } from 'preact'
import type { FindingGroup, FindingLine, FindingsDocument } from '../../src/console/documents/findings.ts'
import { Choice } from '../parts/choice.tsx'
import { CommandLine, CopyButton } from '../parts/command-line.tsx'
import { Excerpt } from '../parts/excerpt.tsx'
import { Filter, matchesFilter } from '../parts/filter.tsx'
import { formatTime, plural } from '../parts/format.ts'
import { Mark } from '../parts/mark.tsx'
import { Empty, Facts, Panel } from '../parts/panel.tsx'
import { Sentence } from '../parts/sentence.tsx'
import { type Column, Table } from '../parts/table.tsx'
import { ViewHead, WithDocument } from '../parts/view.tsx'
import { linkTo, param } from '../state/location.ts'
import { useDocument } from '../state/store.ts'

export function FindingsView(): JSX.Element {
  return (
    <WithDocument view="findings" loaded={useDocument('findings')}>
      {(document) => <Findings document={document} />}
    </WithDocument>
  )
}

function Findings({ document }: { readonly document: FindingsDocument }): JSX.Element {
  const { groups, findings, checked, command, notes } = document
  const byId = new Map(findings.map((finding) => [finding.id, finding]))
  const [filter, severity, selected] = [param('filter'), param('severity'), param('selected')]
  const shown = groups.filter(
    (group) =>
      (severity === '' || group.severity === severity) &&
      matchesFilter(filter, [group.title, ...membersOf(group, byId).flatMap(textsOf)]),
  )
  const open = groups.find((group) => membersOf(group, byId).some(({ id }) => id === selected)) ?? shown[0]
  return (
    <>
      <ViewHead title="Findings" summary={checked.text} command={command} notes={notes} />
      {groups.length === 0 ? (
        <Empty title="No findings">
          <p>{`${checked.text} (${formatTime(checked.time)})`}</p>
        </Empty>
      ) : (
        <>
          <div class="tools">
            <Choice
              label="Severity"
              name="severity"
              values={[
                ['', 'All'],
                ['error', 'Errors'],
                ['warning', 'Warnings'],
                ['info', 'Info'],
              ]}
            />
            <Filter label="Filter findings" shown={shown.length} total={groups.length} />
          </div>
          <div class="split">
            {shown.length > 0 ? (
              <GroupList groups={shown} byId={byId} open={open} />
            ) : (
              <p class="empty panel">No finding matches.</p>
            )}
            {open && <GroupDetails group={open} byId={byId} selected={selected} />}
          </div>
        </>
      )}
      <Checks document={document} />
    </>
  )
}

type ById = ReadonlyMap<string, FindingLine>

function membersOf({ cause, consequences }: FindingGroup, byId: ById): readonly FindingLine[] {
  return [cause, ...consequences].flatMap((id) => byId.get(id) ?? [])
}

function textsOf({ code, message, cloud, place, source, remedy }: FindingLine): readonly (string | undefined)[] {
  return [code, message, cloud, place, source, remedy]
}

interface GroupListProps {
  readonly groups: readonly FindingGroup[]
  readonly byId: ById
  readonly open: FindingGroup | undefined
}

function GroupList({ groups, byId, open }: GroupListProps): JSX.Element {
  return (
    <ul class="list panel">
      {groups.map((group) => {
        const cause = byId.get(group.cause)
        const more = group.consequences.length
        return (
          <li key={group.id}>
            <a
              data-item
              class={`line${cause?.accepted ? ' accepted' : ''}`}
              href={linkTo('findings', { ...keepFilter(), selected: group.cause })}
              aria-current={open?.id === group.id ? 'true' : undefined}
            >
              <Mark state={group.severity} short />
              <span>
                <b>{group.title}</b>
                <span class="quiet line-more">
                  {[cause?.code, cause?.cloud, cause?.accepted && 'accepted', more > 0 && `${more} more follow from it`]
                    .filter(Boolean)
                    .join(' · ')}
                </span>
              </span>
            </a>
          </li>
        )
      })}
    </ul>
  )
}

function keepFilter(): Readonly<Record<string, string>> {
  return { filter: param('filter'), severity: param('severity') }
}

interface GroupDetailsProps {
  readonly group: FindingGroup
  readonly byId: ById
  readonly selected: string
}

function GroupDetails({ group, byId, selected }: GroupDetailsProps): JSX.Element {
  const members = membersOf(group, byId)
  const shown = members.find(({ id }) => id === selected) ?? members[0]
  return (
    <div class="details" key={group.id}>
      {shown && <FindingDetails finding={shown} />}
      {members.length > 1 && (
        <Panel title={shown?.id === group.cause ? 'Follows from it' : 'Cause and what follows from it'}>
          <ul class="body tight">
            {members
              .filter(({ id }) => id !== shown?.id)
              .map(({ id, severity, message }) => (
                <li key={id}>
                  <Mark state={severity} short />{' '}
                  <a href={linkTo('findings', { ...keepFilter(), selected: id })}>{message}</a>
                </li>
              ))}
          </ul>
        </Panel>
      )}
    </div>
  )
}

function FindingDetails({ finding }: { readonly finding: FindingLine }): JSX.Element {
  const { code, severity, message, remedy, commands, evidence, excerpt, accept } = finding
  return (
    <Panel title={finding.title} more={<Mark state={severity} label={`${severity} ${code}`} />}>
      <div class="body stack">
        <p class="wrap">{message}</p>
        <Facts
          of={[
            ['remedy', <Sentence key="remedy" text={remedy} />],
            ['cloud', finding.cloud],
            ['place', finding.place && <code>{finding.place}</code>],
            ['found by', finding.source === 'read' ? 'reading the input' : finding.source],
            ['likelihood', finding.likelihood],
            ['accepted', finding.accepted ? 'yes, in spec.accept' : undefined],
            ['read', finding.documentation && <code>{finding.documentation}</code>],
          ]}
        />
        {evidence.length > 0 && (
          <div>
            <h3>Evidence</h3>
            <ul class="bullets">
              {evidence.map((line) => (
                <li key={line} class="wrap">
                  {line}
                </li>
              ))}
            </ul>
          </div>
        )}
        {excerpt && <Excerpt file={excerpt.file} lines={excerpt.lines} />}
        {commands.map((line) => (
          <CommandLine key={line} command={line} />
        ))}
        {accept && (
          <div>
            <h3>
              <Sentence text="To accept it, paste below `spec.accept` of the site file" />
            </h3>
            <div class="paste">
              <pre>{accept}</pre>
              <CopyButton text={accept} name="the entry" />
            </div>
          </div>
        )}
        <CommandLine command={finding.explain} label="read more" />
      </div>
    </Panel>
  )
}

type Check = FindingsDocument['checks'][number]

const checkColumns: readonly Column<Check>[] = [
  { title: 'Verdict', cell: ({ verdict }) => <Mark state={verdict} /> },
  { title: 'Cloud', cell: ({ cloud }) => cloud ?? 'all' },
  { title: 'Check', cell: ({ title }) => title },
  { title: 'Promise', kind: 'wide', cell: ({ promise }) => promise },
  { title: 'Seen', kind: 'wide', cell: ({ seen }) => seen },
]

function Checks({ document }: { readonly document: FindingsDocument }): JSX.Element | null {
  const { checks } = document
  if (checks.length === 0) return null
  return (
    <details class="panel fold" open={document.groups.length === 0}>
      <summary>{`${plural(checks.length, 'check')} of the cluster`}</summary>
      <Table caption="Checks" columns={checkColumns} rows={checks} keyOf={({ id }) => id} cards />
    </details>
  )
}
