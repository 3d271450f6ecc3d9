/** A table of rows that j and k move through; long tables show their first rows and a button for more. */
import { useSignal } from '@preact/signals'
import type { ComponentChildren, JSX } from 'preact'

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
  readonly selected?: string
  /** On a narrow screen each row is a card. */
  readonly cards?: boolean
}

const FIRST_ROWS = 200

export function Table<Row>(props: TableProps<Row>): JSX.Element {
  const { caption, columns, rows, cards } = props
  const limit = useSignal(FIRST_ROWS)
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
        <tbody>
          {rows.slice(0, limit.value).map((row) => (
            <TableRow key={props.keyOf(row)} row={row} {...props} />
          ))}
        </tbody>
      </table>
      {rows.length > limit.value && (
        <button
          type="button"
          class="more"
          onClick={() => {
            limit.value += FIRST_ROWS
          }}
        >
          {`Show ${Math.min(FIRST_ROWS, rows.length - limit.value)} more of ${rows.length}`}
        </button>
      )}
    </div>
  )
}

function TableRow<Row>(props: TableProps<Row> & { readonly row: Row }): JSX.Element {
  const { columns, row, keyOf, linkOf, selected } = props
  const key = keyOf(row)
  const link = linkOf?.(row)
  const open = link === undefined ? undefined : () => void (location.hash = link)
  return (
    <tr class={`${link ? 'opens' : ''}${selected === key ? ' selected' : ''}`} onClick={open}>
      {columns.map(({ title, kind, cell }, index) => (
        <td key={title} class={kind ?? ''} data-title={title}>
          {index === 0 && link ? (
            <a data-item href={link} aria-current={selected === key ? 'true' : undefined}>
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
