import { describe, expect, it } from 'vitest'
import { parseFileList, parseInstalled, selectPackages } from './installed-packages.ts'

const installed = parseInstalled(
  [
    'installed\tserver\t1.0\t\tlibc6 (>= 2.34)\tshell | other-shell, mail-agent, dpkg',
    'installed\tlibc6\t2.36\t\t\tlibgcc-s1',
    'installed\tlibgcc-s1\t12\t\t\tlibc6:any (>= 2.35)',
    'installed\tother-shell\t5\t\t\t',
    'installed\tpostfix\t3\tmail-agent (= 1), other\t\t',
    'config-files\tremoved\t1\t\t\t',
    '',
  ].join('\n'),
)
const names = (requested: readonly string[], omitted: readonly string[] = []) => {
  const { packages, missing } = selectPackages(requested, omitted, installed)
  return { packages: packages.map(({ name }) => name), missing }
}

describe('the packages of an image', () => {
  it('come with everything that they depend on: the installed alternative and the provider of a virtual package', () => {
    expect(names(['server'])).toEqual({
      packages: ['libc6', 'libgcc-s1', 'other-shell', 'postfix', 'server'],
      missing: [],
    })
  })

  it('do not include what the image omits', () => {
    expect(names(['server'], ['mail-agent', 'shell']).packages).toEqual(['libc6', 'libgcc-s1', 'server'])
  })

  it('are reported when they are not installed or only configured', () => {
    expect(names(['removed', 'absent', 'libc6']).missing).toEqual(['absent', 'removed'])
  })
})

describe('the files of packages', () => {
  it('are sorted, without documentation and settings, below /usr on a merged system', () => {
    const output = [
      '/.',
      '/bin',
      '/bin/sh',
      '/usr/bin',
      '/usr/bin/env',
      '/lib64/ld.so',
      '/etc/x.conf',
      '/usr/share/doc/x/copyright',
      '/usr/share/docs-of-another',
      'diverted by dash to: /bin/sh.distrib',
      '',
    ].join('\n')
    expect(parseFileList(output)).toEqual([
      '/usr/bin',
      '/usr/bin/env',
      '/usr/bin/sh',
      '/usr/lib64/ld.so',
      '/usr/share/docs-of-another',
    ])
  })
})
