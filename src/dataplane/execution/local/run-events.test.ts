import { describe, expect, it } from 'vitest'
import { currentTask, formatFailures, parseEvents, type RunEvent, resolveEnd } from './run-events.ts'

const plain = (text: string): string => text
const counts = (failures: number, unreachable: number) => ({ ok: 3, changed: 1, failures, unreachable })
const played: readonly RunEvent[] = [
  { event: 'play', name: 'Deploy' },
  { event: 'task', name: 'Copy' },
]
const stats = (hosts: Readonly<Record<string, ReturnType<typeof counts>>>): RunEvent => ({
  event: 'stats',
  hosts,
})

describe('resolveEnd', () => {
  it('is Completed when no host failed', () => {
    const end = resolveEnd([...played, stats({ a: counts(0, 0) })], 0, '', plain)
    expect(end).toEqual({ reason: 'Completed', hosts: { a: counts(0, 0) } })
  })

  it('is Failed when a task failed, and names host, task and message', () => {
    const failed: RunEvent = { event: 'failed', host: 'b', task: 'Copy', message: 'no space' }
    const end = resolveEnd([...played, failed, stats({ a: counts(0, 1), b: counts(1, 0) })], 2, '', plain)
    expect(end).toMatchObject({ reason: 'Failed', message: 'b: Copy: no space' })
  })

  it('is Unreachable when hosts are unreachable and no task failed', () => {
    const dark: RunEvent = { event: 'unreachable', host: 'b', task: 'Copy', message: 'No route to host' }
    const end = resolveEnd([...played, dark, stats({ a: counts(0, 0), b: counts(0, 1) })], 4, '', plain)
    expect(end).toMatchObject({ reason: 'Unreachable', message: 'b: Copy: No route to host' })
  })

  it('distinguishes an invalid playbook from an unreachable host, which both exit with 4', () => {
    expect(resolveEnd([], 4, 'ERROR! unexpected parameter', plain)).toEqual({
      reason: 'NotStarted',
      message: 'ERROR! unexpected parameter',
    })
  })

  it('is Unknown when a play started without counts, or when it was killed', () => {
    expect(resolveEnd(played, 1, '', plain).reason).toBe('Unknown')
    expect(resolveEnd([], 137, '', plain).reason).toBe('Unknown')
  })

  it('is NotStarted when the play matches no host', () => {
    expect(resolveEnd([...played, stats({})], 0, '', plain).reason).toBe('NotStarted')
  })

  it('redacts secrets before a line is truncated', () => {
    const secret = 'x'.repeat(50)
    const mask = (text: string): string => text.replaceAll(secret, '******')
    const failed: RunEvent = { event: 'failed', host: 'b', task: 'T', message: `${'m'.repeat(270)}${secret}` }
    expect(formatFailures([failed], mask)[0]).not.toContain('xxx')
  })
})

describe('parseEvents', () => {
  it('reads up to the last complete line', () => {
    const text = '{"event":"task","name":"One"}\n{"event":"task","name":"Tw'
    expect(currentTask(parseEvents(text))).toBe('One')
  })

  it('omits failures that the playbook ignores', () => {
    const ignored: RunEvent = { event: 'failed', host: 'a', task: 'T', message: 'm', ignored: true }
    expect(formatFailures([ignored], plain)).toEqual([])
  })
})
