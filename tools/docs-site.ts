/** Decides what is on the documentation site: which file becomes which page, what links become, the sidebar. Pure. */
import path from 'node:path'
import type { DefaultTheme, MarkdownOptions, UserConfig } from 'vitepress'

/** Pages that are not below docs/, and where they are on the site. */
const otherPages: Readonly<Record<string, string>> = {
  'README.md': 'index.md',
  'docs/README.md': 'documentation.md',
  'CHANGELOG.md': 'project/changelog.md',
  'CODE_OF_CONDUCT.md': 'project/code-of-conduct.md',
  'CONTRIBUTING.md': 'project/contributing.md',
  'SECURITY.md': 'project/security.md',
  'bench/README.md': 'project/figures.md',
}

/** Files that pages link to and that the site serves unchanged. */
const servedFiles = /^(LICENSE|examples\/.+\.(yaml|env))$/

/** Where a file of the checkout is on the site; undefined for a file that is not there. */
export function sitePath(file: string): string | undefined {
  if (Object.hasOwn(otherPages, file)) return otherPages[file]
  if (/^(docs|examples)\/.+\.md$/.test(file)) return file.replace(/^docs\//, '').replace(/\/README\.md$/, '/index.md')
  if (file.startsWith('docs/pictures/')) return file.replace(/^docs\//, '')
  if (!servedFiles.test(file)) return undefined
  // VitePress serves what is in `public` from the root, and takes a file for a page unless it knows the ending.
  return file.endsWith('.yaml') ? `public/${file}` : `public/${file}.txt`
}

export interface RewrittenPage {
  readonly text: string
  /** Links to files that are not on the site. */
  readonly broken: readonly string[]
}

/** Turns links between files of the checkout into links between pages of the site. */
export function rewriteLinks(page: string, text: string): RewrittenPage {
  const broken: string[] = []
  const from = path.posix.dirname(sitePath(page) ?? page)
  const rewritten = text.replace(/\]\(([^)#\s]+)(#[^)\s]+)?\)/g, (link, file: string, anchor = '') => {
    if (/^[a-z]+:/.test(file)) return link
    const target = sitePath(path.posix.join(path.posix.dirname(page), file))
    if (target === undefined) {
      broken.push(file)
      return link
    }
    const served = /^public(\/.*)/.exec(target)?.[1]
    return `](${served ?? relativeLink(from, target)}${anchor})`
  })
  return { text: rewritten, broken }
}

function relativeLink(from: string, target: string): string {
  const relative = path.posix.relative(from, target)
  return relative.startsWith('.') ? relative : `./${relative}`
}

/** The sections of docs/README.md with the pages that their tables list. */
export function sidebarSections(index: string): readonly DefaultTheme.SidebarItem[] {
  return index
    .split(/^## /m)
    .slice(1)
    .map((section) => ({
      text: section.split('\n')[0] ?? '',
      collapsed: false,
      items: [...section.matchAll(/^\| \[(.+?)\]\((.+?)\)/gm)].map(([, text = '', file = '']) => ({
        text,
        link: `/${sitePath(path.posix.join('docs', file)) ?? file}`.replace(/(index)?\.md$/, ''),
      })),
    }))
}

/** Headings become the anchors that GitHub gives them, so that links work in both places. */
export function headingAnchor(heading: string): string {
  return heading
    .toLowerCase()
    .trim()
    .replace(/[^\p{L}\p{N}_\s-]/gu, '')
    .replaceAll(' ', '-')
}

/**
 * VitePress gives only fenced blocks a frame that scrolls, so indented blocks become fenced ones. Vue evaluates `{{` in a page;
 * VitePress excepts fenced blocks, and code within a line shows templates of other programs too.
 */
const keepCode: NonNullable<MarkdownOptions['config']> = ({ renderer: { rules } }) => {
  const { fence, code_inline } = rules
  rules.code_block = (tokens, index, ...rest) => {
    const token = tokens[index]
    if (token) token.info = 'text'
    return fence?.(tokens, index, ...rest) ?? ''
  }
  rules.code_inline = (...code) => code_inline?.(...code).replace('<code', '<code v-pre') ?? ''
}

/** Long names of metrics and options must not make a table wider than the page. */
const STYLE = '.vp-doc td code { overflow-wrap: anywhere; }'

const ICON = `data:image/svg+xml,${encodeURIComponent(
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><path d="M2 4h12M2 8h12M2 12h12M5 2v12M11 2v12" stroke="#3451b2" stroke-width="2"/></svg>',
)}`

const HOME = 'https://stackloom.dev'

/** The versions that have been released, newest first. */
export function releasedVersions(changelog: string): readonly string[] {
  return [...changelog.matchAll(/^## \[(\d+\.\d+\.\d+[^\]]*)\]/gm)].map(([, version = '']) => version)
}

export interface SiteSources {
  /** docs/README.md. */
  readonly index: string
  readonly changelog: string
  readonly version: string
  /** The path below which the site is served: `/`, or `/v/1.2.3/` for the site of an earlier version. */
  readonly base: string
}

export function siteConfig({ index, changelog, version, base }: SiteSources): UserConfig<DefaultTheme.Config> {
  // With the host: every version has its own base, and VitePress puts the base before other links.
  const versions = releasedVersions(changelog).map((released) => ({ text: released, link: `${HOME}/v/${released}/` }))
  return {
    base,
    title: 'Stackloom',
    description: 'Plan, render, deploy, verify and operate OpenStack clouds',
    head: [
      ['style', {}, STYLE],
      ['link', { rel: 'icon', href: ICON }],
    ],
    // Braces in a sentence are text, not attributes.
    markdown: { anchor: { slugify: headingAnchor }, attrs: { disable: true }, config: keepCode },
    themeConfig: {
      // A code such as SL2101 is typed exactly: with tolerance for mistakes the lists of all codes would come first.
      search: {
        provider: 'local',
        options: { miniSearch: { searchOptions: { fuzzy: (term: string) => (/\d/.test(term) ? false : 0.2) } } },
      },
      sidebar: [...sidebarSections(index)],
      nav: [
        { text: 'Documentation', link: '/documentation' },
        {
          text: `Version ${version}`,
          items: [{ text: 'Changes', link: '/project/changelog' }, { text: 'Newest', link: `${HOME}/` }, ...versions],
        },
      ],
      outline: [2, 3],
    },
  }
}
