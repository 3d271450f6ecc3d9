import { describe, expect, it } from 'vitest'
import { extractNmstateError } from './nmstate-error.ts'

describe('extractNmstateError', () => {
  it('returns the error without the surrounding log', () => {
    const text = `error reconciling NodeNetworkConfigurationPolicy on node n at desired state apply: "",
 failed to execute nmstatectl set --no-commit --timeout 480: 'exit status 1' '' '[2026-01-01T00:00:00Z INFO  nmstate::nm] Created
[2026-01-01T00:00:00Z INFO  nmstate::nm] Rollbacked
NmstateError: VerificationError: Verification failure: enp6s0.20.interface.mtu desire '9000', current '1500'
'`
    expect(extractNmstateError(text)).toBe(
      "VerificationError: Verification failure: enp6s0.20.interface.mtu desire '9000', current '1500'",
    )
  })

  it('returns the last line of a Python traceback', () => {
    const text = `Traceback (most recent call last):
  File "/usr/bin/nmstatectl", line 11, in <module>
    sys.exit(main())
libnmstate.error.NmstateValueError: Invalid IP address: 192.168.1.300`
    expect(extractNmstateError(text)).toBe('Invalid IP address: 192.168.1.300')
  })

  it('returns the difference of a verification error', () => {
    const text = `Traceback (most recent call last):
libnmstate.error.NmstateVerificationError: 
desired
=======
---
name: eth1
current
=======
---
name: eth1
difference
==========
--- desired
+++ current
@@ -1,6 +1,6 @@
 name: eth1
-mtu: 9000
+mtu: 1500`
    expect(extractNmstateError(text)).toBe('eth1 should have mtu: 9000 but has mtu: 1500')
  })

  it('returns the failed test of a rollback', () => {
    const text = `rolling back desired state configuration: failed runnig probes after network changes: failed to retrieve default gw: timed out`
    expect(extractNmstateError(text)).toContain('failed to retrieve default gw')
  })

  it('returns the last line otherwise, and is never empty', () => {
    expect(extractNmstateError('at desired state apply: "",\n simulated failure')).toBe('simulated failure')
    expect(extractNmstateError('')).toBe('no reason given')
    expect(extractNmstateError('\n\n')).toBe('no reason given')
  })
})
