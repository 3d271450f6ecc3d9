/** Lists the paths of a value that are missing or different in another value, which may contain more. */

export function missingFrom(whole: unknown, part: unknown, path = ''): readonly string[] {
  if (Array.isArray(part)) {
    if (!Array.isArray(whole) || whole.length !== part.length) return [`${path}: ${JSON.stringify(whole)}`]
    return part.flatMap((item, index) => missingFrom(whole[index], item, `${path}[${index}]`))
  }
  if (typeof part === 'object' && part !== null) {
    if (typeof whole !== 'object' || whole === null) return [`${path}: ${JSON.stringify(whole)}`]
    return Object.entries(part).flatMap(([key, value]) =>
      missingFrom((whole as Record<string, unknown>)[key], value, `${path}.${key}`),
    )
  }
  return Object.is(whole, part) ? [] : [`${path}: ${JSON.stringify(whole)} instead of ${JSON.stringify(part)}`]
}
