import { describe, expect, it } from 'vitest'
import { effectiveConfig as effective } from '../../../test/effective-config.ts'
import { renderSriovConfig } from './sriov-config.ts'

describe('The configuration of the SR-IOV agent', () => {
  it('has the message bus of the cloud, and takes the NICs from customServiceConfig', () => {
    const facts = { transportUrl: 'rabbit://neutron:pa$$@rabbitmq:5671/?ssl=1', host: 'edpm-compute-0' }
    const custom = '[sriov_nic]\nphysical_device_mappings = physnet1:ens2f0\n'
    expect(effective(renderSriovConfig(facts, custom))).toMatchObject({
      'DEFAULT.host': 'edpm-compute-0',
      'DEFAULT.transport_url': facts.transportUrl,
      'sriov_nic.physical_device_mappings': 'physnet1:ens2f0',
    })
  })
})
