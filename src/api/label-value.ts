/** Checks texts that become the value of a label, or the name after the slash of its key. Pure. */

const LABEL_VALUE = /^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/

/** The API server refuses the whole object for any other text; an empty one is a value, but not a name. */
export function isLabelValue(text: string): boolean {
  return LABEL_VALUE.test(text)
}
