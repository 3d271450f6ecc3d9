/** NetConfigs and IPSets for tests: those of the conformance list, and what varies them. */
import type { NetConfig, NetConfigSpec } from '../src/api/netconfig.ts'

export const networkVersion = 'network.openstack.org/v1beta1'

export function netConfig(
  spec: NetConfigSpec,
  annotations: Readonly<Record<string, string>> = {},
): NetConfig {
  return {
    apiVersion: networkVersion,
    kind: 'NetConfig',
    metadata: { name: 'netconfig', namespace: 'ns', annotations },
    spec,
  }
}
