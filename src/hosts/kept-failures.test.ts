import { describe, expect, it } from 'vitest'
import { FAILURES_ANNOTATION, findFailures, formatFailures, readFailures } from './kept-failures.ts'

const deployment = (text: string) => ({
  apiVersion: 'dataplane.openstack.org/v1beta1',
  kind: 'OpenStackDataPlaneDeployment',
  metadata: { name: 'first', namespace: 'openstack', annotations: { [FAILURES_ANNOTATION]: text } },
})

describe('failures that are kept with a deployment', () => {
  it('are read as they were found, with credentials masked', () => {
    const output = 'TASK [Pull images] ****\nfatal: [compute-0]: FAILED! => {"msg": "password=s3cret was refused"}\n'
    const failures = findFailures({ namespace: 'openstack', deployment: 'first', service: 'nova', output })
    expect(failures).toMatchObject([{ service: 'nova', host: 'compute-0', task: 'Pull images' }])
    const text = formatFailures(failures)
    expect(text).not.toContain('s3cret')
    expect(readFailures(deployment(text))).toEqual(failures)
  })

  it('take at most 32 KiB, each with a cause of limited length', () => {
    const long = { service: 'nova', host: 'compute-0', task: 'Task', cause: 'x'.repeat(5_000) }
    const text = formatFailures(Array.from({ length: 500 }, () => long))
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(32 * 1024)
    const kept = readFailures(deployment(text))
    expect(kept.length).toBeGreaterThan(50)
    expect(kept[0]?.cause).toHaveLength(400)
  })

  it.each(['', 'no JSON', '{}', '[1, {"host": 3}]'])('are none in %j', (text) => {
    expect(readFailures(deployment(text))).toEqual([])
  })
})
