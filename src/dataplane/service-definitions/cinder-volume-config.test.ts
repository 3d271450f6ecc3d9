import { describe, expect, it } from 'vitest'
import { effectiveConfig as effective } from '../../../test/effective-config.ts'
import { renderCinderVolumeConfig } from './cinder-volume-config.ts'

const facts = {
  transportUrl: 'rabbit://cinder:pa$$@rabbitmq:5671/?ssl=1',
  connection: 'mysql+pymysql://cinder:pa$$@db/cinder',
  host: 'edpm-storage-0',
}

describe('The configuration of cinder-volume', () => {
  it('has message bus and database of the cloud, and takes its backends from customServiceConfig', () => {
    const custom = '[DEFAULT]\nenabled_backends = lvm\n[lvm]\nvolume_group = cinder-volumes\n'
    expect(effective(renderCinderVolumeConfig({ ...facts, myIp: '192.168.122.100' }, custom))).toMatchObject({
      'DEFAULT.host': 'edpm-storage-0',
      'DEFAULT.my_ip': '192.168.122.100',
      'DEFAULT.transport_url': facts.transportUrl,
      'DEFAULT.enabled_backends': 'lvm',
      'database.connection': facts.connection,
      'lvm.volume_group': 'cinder-volumes',
    })
  })

  it('leaves the address to cinder-volume where the node has none', () => {
    expect(effective(renderCinderVolumeConfig(facts))).not.toHaveProperty(['DEFAULT.my_ip'])
  })
})
