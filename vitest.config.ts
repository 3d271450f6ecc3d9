import { defineConfig } from 'vitest/config'

const settings = { testTimeout: 30_000, hookTimeout: 120_000, pool: 'forks' } as const

/** Folders without clock, file and network (docs/architecture.md): one test file leaves nothing behind for the next. */
const pure = ['addresses', 'api', 'backup', 'certificates', 'doctor', 'errors', 'fleet', 'hosts', 'images', 'ini']
  .concat('net', 'netbox', 'plan', 'render', 'site', 'verify', 'yaml')
  .map((folder) => `src/${folder}/**/*.test.ts`)

export default defineConfig({
  test: {
    // Two cores, and suites run two at a time: more workers only make each other slow.
    maxWorkers: 2,
    projects: [
      // Files share the modules that a worker loaded: loading them again takes longer than most of these tests.
      { test: { ...settings, name: 'pure', include: pure, isolate: false } },
      {
        test: {
          ...settings,
          name: 'other',
          include: ['src/**/*.test.ts', 'web/**/*.test.ts', 'tools/**/*.test.ts', 'test/**/*.test.ts'],
          exclude: pure,
        },
      },
    ],
  },
})
