import { describe, expect, it } from 'vitest'
import { escapeDollars } from '../../ini/substitute.ts'
import { cinderVolumeService } from './cinder-volume.ts'
import type { ServiceDefinition } from './definition.ts'
import { ovnMetadataService } from './ovn-metadata.ts'
import { readPublishedOptions } from './published-options.ts'
import { sriovService } from './sriov.ts'

describe('readPublishedOptions', () => {
  it('reads an escaped dollar sign as one, and a reference as the other option', () => {
    const read = readPublishedOptions(
      '[DEFAULT]\nuser = u\na = x$$y\nb = \\$z\nc = $user@h\n[ovn]\nd = ${DEFAULT.user}\n',
    )
    expect(['a', 'b', 'c', 'd'].map((key) => read(key))).toEqual(['x$y', '$z', 'u@h', 'u'])
  })

  it('keeps a reference to no option as it is written', () => {
    expect(readPublishedOptions('[DEFAULT]\na = x$nothing\n')('a')).toBe('x$nothing')
  })

  it('takes the last value, of the section that is asked for', () => {
    const read = readPublishedOptions('[DEFAULT]\na = 1\n', '[DEFAULT]\na = 2\n[other]\na = 3\n')
    expect([read('a'), read('a', 'DEFAULT'), read('a', 'none')]).toEqual(['3', '2', undefined])
  })
})

describe('a password with dollar signs in published configuration', () => {
  const PASSWORD = 'pa$$wo$rd'
  const parts: readonly [ServiceDefinition, Readonly<Record<string, string>>][] = [
    [sriovService, { '10-neutron-sriov.conf': '[DEFAULT]\ntransport_url = rabbit://n:PASSWORD@bus:5671/\n' }],
    [
      cinderVolumeService,
      {
        '10-cinder-volume.conf':
          '[DEFAULT]\ntransport_url = rabbit://c:PASSWORD@bus:5671/\n[database]\nconnection = mysql://c:PASSWORD@db/c\n',
      },
    ],
    [
      ovnMetadataService,
      {
        '10-neutron-metadata.conf': '[ovn]\novn_sb_connection = tcp:ovn:6642\n',
        '05-nova-metadata.conf': '[DEFAULT]\nnova_metadata_host = nova\nmetadata_proxy_shared_secret = PASSWORD\n',
      },
    ],
  ]

  it.each(parts.map(([service, files]) => ({ name: service.name, service, files })))(
    'is the same for $name as for the control plane',
    ({ service, files }) => {
      const secretValue = (_: string, key: string): string =>
        (files[key] ?? '').replaceAll('PASSWORD', () => escapeDollars(PASSWORD))
      const object = { apiVersion: 'v1', kind: 'Service', metadata: { name: 'x' }, spec: {} }
      const input = { service: object, secretValue, hostName: 'edpm-compute-0' } as unknown
      const found = service.facts(input as Parameters<ServiceDefinition['facts']>[0])
      if (found.kind !== 'found') throw new Error(JSON.stringify(found))
      const rendered = service.files(found.facts, '')
      if (rendered.kind !== 'files') throw new Error(JSON.stringify(rendered.findings))
      const text = rendered.files[service.generatedFile] ?? ''
      const written = Object.values(files).join('').split('PASSWORD').length - 1
      expect(text.split(escapeDollars(PASSWORD)).length - 1).toBe(written)
      expect(JSON.stringify(found.facts)).toContain(PASSWORD)
    },
  )
})
