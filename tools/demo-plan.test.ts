import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { testIo } from '../test/io.ts'
import { showPlan } from './demo-plan.ts'

it('the demo shows plan, picture, tree and a finding before it needs a program of the sandbox', async () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'stackloom-demo-plan-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const io = testIo()
  expect(await showPlan(folder, io, path.join(folder, 'site.svg'))).toBe(0)
  expect(io.out()).toMatch(/internalapi.*172\.27\.0\.0\/24/)
  expect(io.err()).toContain('SL2201')
  expect(existsSync(path.join(folder, 'site.svg'))).toBe(true)
  expect(existsSync(path.join(folder, 'tree/kustomization.yaml'))).toBe(true)
})
