import { expect, it } from 'vitest'
import type { Finding } from '../../errors/finding.ts'
import type { CheckResult, Verdict } from '../verify.ts'
import { judgeNetwork, parseProbeRecord } from './probe-record.ts'

const result = (verdict: Verdict, ...messages: readonly string[]): CheckResult => ({
  id: 'probe-reach',
  title: 'Reach inside the cloud',
  cloud: 'rhoso1',
  promise: 'every node reaches every other',
  seen: '6 probes',
  verdict,
  findings: messages.map((message): Finding => ({ code: 'SL9100', severity: 'error', message, remedy: 'check it' })),
})

it('calls a network failed by a finding that names it, and no other network', () => {
  const results = [result('failed', 'rhoso1/storage on worker-0 does not reach worker-1')]
  expect(judgeNetwork({ results }, 'rhoso1', 'storage')).toEqual({
    verdict: 'failed',
    text: 'rhoso1/storage on worker-0 does not reach worker-1',
  })
  expect(judgeNetwork({ results }, 'rhoso1', 'storagemgmt')?.verdict).toBe('passed')
})

it('knows nothing of a network whose probe did not run, and nothing of a cloud that was not probed', () => {
  const results = [result('unknown', 'the probe of rhoso1/storage on worker-2 did not run: no such image')]
  expect(judgeNetwork({ results }, 'rhoso1', 'storage')?.verdict).toBe('unknown')
  expect(judgeNetwork({ results }, 'rhoso1', 'tenant')?.verdict).toBe('unknown')
  expect(judgeNetwork({ results }, 'rhoso2', 'storage')).toBeUndefined()
})

it('reads back what was written, and no other text', () => {
  const record = { site: 'berlin', time: '2026-11-17T12:00:00.000Z', results: [result('passed')] }
  expect(parseProbeRecord(JSON.stringify(record))).toEqual(record)
  for (const text of ['', '{', 'null', '[]', '{"site":"berlin"}']) expect(parseProbeRecord(text)).toBeUndefined()
})
