import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { headingAnchor, releasedVersions, rewriteLinks, sidebarSections, siteConfig, sitePath } from './docs-site.ts'
import { filesBelow } from './files.ts'

it('pages keep their path without docs/, and a README is the index of its folder', () => {
  const paths = ['README.md', 'docs/guide/plan.md', 'docs/findings/README.md', 'SECURITY.md'].map(sitePath)
  expect(paths).toEqual(['index.md', 'guide/plan.md', 'findings/index.md', 'project/security.md'])
  expect(sitePath('src/cli/main.ts')).toBeUndefined()
})

describe('a link', () => {
  const rewrite = (page: string, link: string) => rewriteLinks(page, `[a](${link})`)

  it.each([
    ['README.md', 'docs/guide/plan.md', './guide/plan.md'],
    ['docs/guide/plan.md', '../findings/README.md', '../findings/index.md'],
    ['docs/guide/plan.md', '../../SECURITY.md#scope', '../project/security.md#scope'],
    ['docs/guide/plan.md', '../pictures/topology.svg', '../pictures/topology.svg'],
    ['docs/guide/node-sets.md', '../../examples/hci.yaml', '/examples/hci.yaml'],
    ['examples/README.md', 'install-yamls/a.env', '/examples/install-yamls/a.env.txt'],
    ['docs/guide/plan.md', '#pins', '#pins'],
    ['docs/guide/plan.md', 'https://example.org/a.md', 'https://example.org/a.md'],
  ])('of %s to %s becomes %s', (page, link, expected) => {
    expect(rewrite(page, link)).toEqual({ text: `[a](${expected})`, broken: [] })
  })

  it('to a file that is not on the site is reported', () => {
    expect(rewrite('docs/architecture.md', '../src/cli/main.ts').broken).toEqual(['../src/cli/main.ts'])
  })
})

it('a heading has the anchor that GitHub gives it', () => {
  const headings = ['Adopt a cloud that install_yamls deployed', '`spec.clouds[].networks`', 'Health and metrics']
  expect(headings.map(headingAnchor)).toEqual([
    'adopt-a-cloud-that-install_yamls-deployed',
    'speccloudsnetworks',
    'health-and-metrics',
  ])
})

it('every page of the guide and the reference is in the sidebar', () => {
  const sections = sidebarSections(readFileSync('docs/README.md', 'utf8'))
  const links = new Set(sections.flatMap(({ items = [] }) => items.map(({ link }) => link)))
  const pages = filesBelow('.', 'docs').filter((name) => /^docs\/(guide|reference)\/[^/]+\.md$/.test(name))
  expect(pages.length).toBeGreaterThan(20)
  expect(pages.filter((page) => !links.has(`/${sitePath(page)}`.replace(/\.md$/, '')))).toEqual([])
  expect(sections.map(({ text }) => text).slice(0, 4)).toEqual([
    'Tutorials',
    'How-to guides',
    'Reference',
    'Explanation',
  ])
})

it('the menu has every released version, and the site of a version is served below its own path', () => {
  const changelog = '# Changelog\n\n## [Unreleased]\n\n## [0.2.0] - 2026-12-01\n\n## [0.1.0]\n'
  expect(releasedVersions(changelog)).toEqual(['0.2.0', '0.1.0'])
  const { base, themeConfig } = siteConfig({ index: '', changelog, version: '0.2.0', base: '/v/0.2.0/' })
  expect(base).toBe('/v/0.2.0/')
  const links = JSON.stringify(themeConfig?.nav)
  expect(links).toContain('https://stackloom.dev/v/0.1.0/')
  expect(releasedVersions(readFileSync('CHANGELOG.md', 'utf8'))).toContain('0.1.0')
})
