/** A table of rows that j and k move through; long tables show their first rows and a button for more. */
import { useSignal } from '@preact/signals'
import type { ComponentChildren, JSX, VNode } from 'preact'
import { useEffect, useRef } from 'preact/hooks'

export interface Column<Row> {
  readonly title: string
  /** Numbers are aligned to the right, addresses and names of objects are monospaced, short values keep on one line. */
  readonly kind?: 'number' | 'code' | 'wide' | 'short'
  readonly cell: (row: Row) => ComponentChildren
}

interface TableProps<Row> {
  readonly caption: string
  readonly columns: readonly Column<Row>[]
  readonly rows: readonly Row[]
  readonly keyOf: (row: Row) => string
  /** The link that a row opens. */
  readonly linkOf?: (row: Row) => string
  /** Opens a row in place of its link, where the link would forget something of the view. */
  readonly onOpen?: (row: Row) => void
  readonly selected?: string
  /** On a narrow screen each row is a card. */
  readonly cards?: boolean
  /** What is said in place of rows. */
  readonly empty?: string
}

const FIRST_ROWS = 100
/** About what a screen shows below the head of a view. The others follow in parts, so that none of them delays a frame. */
const ROWS_PER_FRAME = 12

export function Table<Row>(props: TableProps<Row>): JSX.Element {
  const { caption, columns, rows, keyOf, selected, cards, empty = 'None' } = props
  const asked = useSignal(FIRST_ROWS)
  const drawn = useSignal(ROWS_PER_FRAME)
  // A link may select a row that is not among the first ones.
  const chosen = selected ? rows.findIndex((row) => keyOf(row) === selected) + 1 : 0
  const limit = Math.max(asked.value, chosen)
  const wanted = Math.min(rows.length, limit)
  const isComplete = drawn.value >= wanted
  useEffect(() => {
    if (isComplete) return undefined
    const timer = setTimeout(() => {
      drawn.value += ROWS_PER_FRAME
    })
    return () => clearTimeout(timer)
  }, [isComplete, drawn.value])
  const rowOf = useRows(props)
  return (
    <div class="scroll">
      <table class={cards ? 'cards' : ''}>
        <caption class="unseen">{caption}</caption>
        <thead>
          <tr>
            {columns.map(({ title, kind }) => (
              <th scope="col" class={kind ?? ''} key={title}>
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>{rows.slice(0, Math.min(limit, drawn.value)).map(rowOf)}</tbody>
      </table>
      {rows.length === 0 && <p class="none quiet">{empty}</p>}
      {isComplete && rows.length > limit && (
        <button
          type="button"
          class="more"
          onClick={() => {
            asked.value = limit + FIRST_ROWS
          }}
        >
          {`Show ${Math.min(FIRST_ROWS, rows.length - limit)} more of ${rows.length}`}
        </button>
      )}
    </div>
  )
}

interface DrawnRow<Row> {
  readonly row: Row
  readonly link: string | undefined
  readonly isSelected: boolean
  readonly node: VNode
}

/** Draws a row, or returns it as it was drawn before: of fifty clouds most changes are about one. */
function useRows<Row>(props: TableProps<Row>): (row: Row) => VNode {
  const { columns, rows, keyOf, linkOf, onOpen, selected } = props
  const known = useRef(new Map<string, DrawnRow<Row>>())
  // Rows that are gone are forgotten now and then.
  if (known.current.size > 2 * rows.length + FIRST_ROWS) known.current.clear()
  return (row) => {
    const key = keyOf(row)
    const link = linkOf?.(row)
    const isSelected = selected === key
    const before = known.current.get(key)
    if (before?.row === row && before.link === link && before.isSelected === isSelected) return before.node
    const node = <TableRow key={key} {...{ columns, row, link, isSelected, onOpen }} />
    known.current.set(key, { row, link, isSelected, node })
    return node
  }
}

interface TableRowProps<Row> extends Pick<TableProps<Row>, 'columns'> {
  readonly row: Row
  readonly link: string | undefined
  readonly isSelected: boolean
  readonly onOpen: ((row: Row) => void) | undefined
}

function TableRow<Row>({ columns, row, link, isSelected, onOpen }: TableRowProps<Row>): JSX.Element {
  const open = (event: MouseEvent): void => {
    const isLink = event.target instanceof Element && event.target.closest('a') !== null
    // The browser follows a link, also into another tab.
    if (event.ctrlKey || event.metaKey || (isLink && !onOpen)) return
    if (onOpen) {
      event.preventDefault()
      onOpen(row)
    } else if (link !== undefined) location.hash = link
  }
  return (
    <tr
      class={`${link ? 'opens' : ''}${isSelected ? ' selected' : ''}`}
      onClick={link === undefined ? undefined : open}
    >
      {columns.map(({ title, kind, cell }, index) => (
        <td key={title} class={kind ?? ''} data-title={title}>
          {index === 0 && link ? (
            <a data-item href={link} aria-current={isSelected ? 'true' : undefined}>
              {cell(row)}
            </a>
          ) : (
            cell(row)
          )}
        </td>
      ))}
    </tr>
  )
}
