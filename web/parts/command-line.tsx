/** Shows the command that prints the same on a terminal, with a button that copies it. */
import { useSignal } from '@preact/signals'
import type { JSX } from 'preact'

export function CommandLine({ command, label }: { readonly command: string; readonly label?: string }): JSX.Element {
  return (
    <span class="command">
      {label && <span class="quiet">{label}</span>}
      <code>{command}</code>
      <CopyButton text={command} name={command} />
    </span>
  )
}

export function CopyButton({ text, name }: { readonly text: string; readonly name: string }): JSX.Element {
  const copied = useSignal(false)
  const copy = (): void => {
    void navigator.clipboard.writeText(text).then(() => {
      copied.value = true
      setTimeout(() => {
        copied.value = false
      }, 1500)
    })
  }
  return (
    <button type="button" class="small" onClick={copy} aria-label={`Copy ${name}`}>
      {copied.value ? 'Copied' : 'Copy'}
    </button>
  )
}
