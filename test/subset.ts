/** What of a value is missing or other in another one that may hold more: paths, for people. */

export function missingFrom(whole: unknown, part: unknown, path = ''): readonly string[] {
  if (Array.isArray(part)) {
    if (!Array.isArray(whole) || whole.length !== part.length) return [`${path}: ${JSON.stringify(whole)}`]
    return part.flatMap((one, index) => missingFrom(whole[index], one, `${path}[${index}]`))
  }
  if (typeof part === 'object' && part !== null) {
    if (typeof whole !== 'object' || whole === null) return [`${path}: ${JSON.stringify(whole)}`]
    return Object.entries(part).flatMap(([key, value]) =>
      missingFrom((whole as Record<string, unknown>)[key], value, `${path}.${key}`),
    )
  }
  return Object.is(whole, part) ? [] : [`${path}: ${JSON.stringify(whole)} instead of ${JSON.stringify(part)}`]
}
