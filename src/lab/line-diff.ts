/** What differs between two texts, line by line, as people know it from `diff -u`. Pure. */

const CONTEXT = 2
const MOST_LINES = 40

interface Line {
  readonly mark: ' ' | '-' | '+'
  readonly text: string
}

/** `-` is what is there, `+` what would be written. */
export function diffLines(before: string, after: string): string {
  const lines = compareLines(before.split('\n'), after.split('\n'))
  const near = lines.map((_, at) =>
    lines.slice(Math.max(0, at - CONTEXT), at + CONTEXT + 1).some((line) => line.mark !== ' '),
  )
  const shown = lines.flatMap(({ mark, text }, at) => (near[at] ? [`${mark} ${text}`] : []))
  const rest = shown.length - MOST_LINES
  return [...shown.slice(0, MOST_LINES), ...(rest > 0 ? [`… and ${rest} more lines`] : [])].join('\n')
}

/** The longest common subsequence, between the parts at both ends that are equal anyway. */
function compareLines(a: readonly string[], b: readonly string[]): readonly Line[] {
  let head = 0
  while (head < a.length && head < b.length && a[head] === b[head]) head += 1
  let tail = 0
  while (tail < a.length - head && tail < b.length - head && a.at(-1 - tail) === b.at(-1 - tail)) tail += 1
  const same = (lines: readonly string[]): readonly Line[] => lines.map((text) => ({ mark: ' ', text }))
  const middle = diffByLongestCommonSubsequence(a.slice(head, a.length - tail), b.slice(head, b.length - tail))
  return [...same(a.slice(0, head)), ...middle, ...same(a.slice(a.length - tail))]
}

function diffByLongestCommonSubsequence(a: readonly string[], b: readonly string[]): readonly Line[] {
  const lengths = Array.from({ length: a.length + 1 }, () => Array.from({ length: b.length + 1 }, () => 0))
  const at = (i: number, j: number): number => lengths[i]?.[j] ?? 0
  for (let i = a.length - 1; i >= 0; i -= 1) {
    for (let j = b.length - 1; j >= 0; j -= 1) {
      const row = lengths[i] as number[]
      row[j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1))
    }
  }
  const lines: Line[] = []
  let [i, j] = [0, 0]
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      lines.push({ mark: ' ', text: a[i] as string })
      i += 1
      j += 1
    } else if (i < a.length && (j >= b.length || at(i + 1, j) >= at(i, j + 1))) {
      lines.push({ mark: '-', text: a[i] as string })
      i += 1
    } else {
      lines.push({ mark: '+', text: b[j] as string })
      j += 1
    }
  }
  return lines
}
