/** The dialog with the keys of the page. */
import type { JSX } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { helpOpen, keyHelp } from '../state/keys.ts'

export function KeyHelp(): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null)
  const open = helpOpen.value
  useEffect(() => {
    if (open) dialog.current?.showModal()
    else dialog.current?.close()
  }, [open])
  const close = (): void => {
    helpOpen.value = false
  }
  return (
    <dialog ref={dialog} onClose={close} aria-labelledby="keys-title">
      <h2 id="keys-title">Keys</h2>
      <dl class="keys">
        {keyHelp.flatMap(([key, meaning]) => [
          <dt key={key}>
            <kbd>{key}</kbd>
          </dt>,
          <dd key={meaning}>{meaning}</dd>,
        ])}
      </dl>
      <p class="dialog-end">
        <button type="button" onClick={close}>
          Close
        </button>
      </p>
    </dialog>
  )
}
