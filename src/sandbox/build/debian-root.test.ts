import { describe, expect, it } from 'vitest'
import { chooseSources, mmdebstrapArgs } from './debian-root.ts'

const debian = 'ID=debian\nVERSION_CODENAME=bookworm\n'

describe('chooseSources', () => {
  it('takes the sources of this machine that have its release', () => {
    const files = [
      { path: '/etc/apt/sources.list.d/debian.sources', text: 'Suites: bookworm bookworm-updates\n' },
      { path: '/etc/apt/sources.list.d/other.list', text: 'deb http://mirror.example.com stable main\n' },
      { path: '/etc/apt/sources.list.d/commented.list', text: '# bookworm\n' },
    ]
    expect(chooseSources(debian, files)).toEqual({
      suite: 'bookworm',
      sources: ['/etc/apt/sources.list.d/debian.sources'],
    })
  })

  it('leaves the sources to mmdebstrap on another system', () => {
    expect(chooseSources('ID=fedora\n', [{ path: '/x', text: 'bookworm' }])).toEqual({ suite: 'bookworm', sources: [] })
  })
})

describe('mmdebstrapArgs', () => {
  it('ends with the release, the folder and the sources, which mmdebstrap reads by position', () => {
    const args = mmdebstrapArgs({
      suite: 'bookworm',
      sources: ['/a'],
      packages: ['x', 'y'],
      options: ['--o'],
      root: '/r',
    })
    expect(args).toContain('--include=x,y')
    expect(args.slice(-4)).toEqual(['--o', 'bookworm', '/r', '/a'])
  })
})
