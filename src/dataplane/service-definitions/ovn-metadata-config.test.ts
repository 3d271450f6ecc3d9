import { describe, expect, it } from 'vitest'
import { effectiveConfig as effective } from '../../../test/effective-config.ts'
import { METADATA_OVERRIDE, renderMetadataConfig } from './ovn-metadata-config.ts'

describe('The configuration of the OVN metadata agent', () => {
  const agent = {
    ovnSbConnection: 'ssl:ovsdbserver-sb.openstack.svc:6642',
    host: 'edpm-compute-0',
    novaMetadataHost: 'nova-metadata-internal.openstack.svc',
    sharedSecret: '12$45',
  }

  it('enables debug logging by customServiceConfig', () => {
    const custom = '[DEFAULT]\ndebug = True\n'
    const made = renderMetadataConfig(agent, custom)
    expect(made.kind === 'files' && made.files[METADATA_OVERRIDE]).toBe(custom)
    expect(effective(made)).toMatchObject({
      'DEFAULT.debug': 'True',
      'DEFAULT.host': 'edpm-compute-0',
      'DEFAULT.metadata_proxy_shared_secret': '12$45',
      'ovn.ovn_sb_connection': agent.ovnSbConnection,
    })
  })

  it('names key and certificates of the agent where the southbound database has TLS, and only there', () => {
    expect(effective(renderMetadataConfig(agent))).toMatchObject({
      'ovn.ovn_sb_private_key': '/var/lib/openstack/config/ovn-metadata/key.pem',
      'ovn.ovn_sb_certificate': '/var/lib/openstack/config/ovn-metadata/certificate.pem',
      'ovn.ovn_sb_ca_cert': '/var/lib/openstack/config/ovn-metadata/ca.pem',
    })
    const plain = renderMetadataConfig({ ...agent, ovnSbConnection: 'tcp:172.17.0.80:6642' })
    expect(Object.keys(effective(plain)).filter((key) => key.startsWith('ovn.'))).toEqual(['ovn.ovn_sb_connection'])
  })
})
