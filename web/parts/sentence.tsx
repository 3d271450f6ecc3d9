/** A sentence of the program; what it has between backticks is code. */
import type { JSX } from 'preact'

export function Sentence({ text }: { readonly text: string }): JSX.Element {
  return <>{text.split('`').map((part, index) => (index % 2 === 1 ? <code key={index}>{part}</code> : part))}</>
}
