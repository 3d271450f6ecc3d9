import { expect, it } from 'vitest'
import { effectiveValues, mergeIni } from './merge.ts'
import { parseIni } from './parse.ts'

const files = [
  { file: '01-nova.conf', text: '[DEFAULT]\ndebug = true\n[pci]\nalias = a\n' },
  {
    file: '02-nova-override.conf',
    text: '[DEFAULT]\ndebug = false\n[PCI]\nalias = b\n[default]\ndebug = 1\n',
  },
].map(({ file, text }) => ({ file, assignments: parseIni(text).assignments }))

function effective(section: string, key: string): readonly string[] {
  const option = mergeIni(files).find((mergedOption) => mergedOption.section === section && mergedOption.key === key)
  return option ? effectiveValues(option).map(({ value, file, line }) => `${value} (${file}:${line})`) : []
}

it('lets the last file win and records which one it was', () => {
  expect(effective('DEFAULT', 'debug')).toEqual(['false (02-nova-override.conf:2)'])
})

it('adds up multi-valued options over all files, regardless of the case of the section', () => {
  expect(effective('pci', 'alias')).toEqual(['a (01-nova.conf:4)', 'b (02-nova-override.conf:4)'])
})

it('keeps [default] apart from [DEFAULT], as oslo.config does', () => {
  expect(effective('default', 'debug')).toEqual(['1 (02-nova-override.conf:6)'])
})
