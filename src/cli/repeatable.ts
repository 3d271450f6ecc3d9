/** Collects the values of an option that may be repeated; pass it to commander's `option`. */
export function repeatable(value: string, previous: readonly string[] = []): readonly string[] {
  return [...previous, value]
}
