/** Runs the console until it is interrupted: opens the sources, starts the server, prints the link. */
import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { setFlagsFromString } from 'node:v8'
import { systemClock } from '../../clock/clock.ts'
import { createActionRunner } from '../../console/actions.ts'
import type { BackendOptions, RunningBackend } from '../../console/backend-options.ts'
import { createBackend } from '../../console/create-backend.ts'
import { openRunStore } from '../../console/run-store.ts'
import { type Admission, createApp } from '../../console/server/app.ts'
import { loadAssets } from '../../console/server/assets.ts'
import { createGuard } from '../../console/server/guard.ts'
import { serveConsole } from '../../console/server/serve.ts'
import { createStreamHub } from '../../console/server/stream-hub.ts'
import { wrongUse } from '../../errors/common.ts'
import { type ExitCode, failure } from '../../errors/failure.ts'
import { runRecordFolder, userStateFolder } from '../../run/run-record.ts'
import { type ProbeRecord, parseProbeRecord } from '../../verify/probe/probe-record.ts'
import { checkReadable } from '../files.ts'
import { siteOptions } from '../fleet/sites.ts'
import type { Io } from '../io.ts'
import { serialiseResult } from '../output/format.ts'
import { programVersion } from '../program-version.ts'
import { SITE_FILE } from '../site-file.ts'
import type { ConsoleOptions } from './command.ts'
import { executeProgram } from './execute-program.ts'
import { openFleetSource } from './fleet-source.ts'
import { openLabSource } from './lab-source.ts'
import { openLiveSource } from './live-sources.ts'
import { createLinkOpener } from './open-browser.ts'
import { openPrometheus } from './prometheus-source.ts'
import { openSiteSource } from './site-source.ts'

const HOST = '127.0.0.1'
const PLAN_ALONE = 'no kubeconfig was found: the plan alone is shown\n'
const NO_SITE = 'neither a site file nor a kubeconfig was found: only runs and a lab can be shown\n'

export async function runConsole(given: ConsoleOptions, io: Io): Promise<ExitCode> {
  // It runs all day beside other programs: a small heap that is cleaned more often is worth the time.
  setFlagsFromString('--optimize-for-size')
  const prometheus = await checkOptions(given, io)
  const fleet = given.fleet === undefined ? undefined : await openFleetSource(given.fleet, given.site, io)
  const options = fleet ? { ...siteOptions(given, fleet.shown), output: given.output } : given
  const { catalogue } = await import('../explain/catalogue.ts')
  const server = randomUUID().slice(0, 8)
  const hub = createStreamHub(server)
  // Sources report changes before the backend that uses them exists.
  const started: { backend?: RunningBackend } = {}
  const site = openSiteSource(options, io, () => started.backend?.siteChanged())
  const live = await openLiveSource(options, io, {
    namespaces: () => site?.namespaces() ?? [],
    onChange: (change) => started.backend?.clusterChanged(change),
    onListed: () => started.backend?.clusterListed(),
    onConnection: (connection) => started.backend?.connectionChanged(connection),
  })
  if (!live) io.stderr(site ? PLAN_ALONE : NO_SITE)
  const fileOptions = site ? site.options : []
  const runs = openRunStore({
    folder: runRecordFolder(io.env),
    files: (options.run ?? []).map((file) => path.resolve(io.cwd, file)),
    clock: systemClock,
    onEvents: (run, from, events) => {
      hub.publish({ kind: 'run', run, from, events: events.map((event) => ({ ...event })) })
      started.backend?.runsChanged()
    },
  })
  const clusterOptions = live?.options ?? []
  const actions = createActionRunner({
    fileOptions,
    clusterOptions,
    hasSite: site !== undefined,
    execute: (words, onOutput) => executeProgram(words, io, onOutput),
    onChange: (action) => hub.publish({ kind: 'action', action }),
  })
  const backend = createBackend({
    program: { name: 'stackloom', version: programVersion() },
    server,
    hub,
    clock: systemClock,
    ...(site && { site }),
    ...(live && { live: live.source }),
    runs,
    readProbe: (name) => readProbe(name, io),
    ...(fleet && { fleet }),
    ...prometheus,
    ...(options.lab !== undefined && { lab: openLabSource(options.lab, io) }),
    ...(options.allowActions && { actions }),
    title: (code) => catalogue.get(code)?.title ?? code,
    verbose: io.verbose,
    fileOptions,
    clusterOptions,
  })
  started.backend = backend
  try {
    return await serve(backend, options, io)
  } finally {
    site?.close()
    await backend.close()
  }
}

/** Before anything is watched; a file that goes away later is reported in the page. */
async function checkOptions(given: ConsoleOptions, io: Io): Promise<Pick<BackendOptions, 'readUse'>> {
  const { site, fleet, lab, file, run, prometheus } = given
  if (site !== undefined && fleet === undefined)
    throw failure(wrongUse, { reason: '--site needs --fleet', command: 'stackloom console' })
  const files = [lab ?? [], file === SITE_FILE ? [] : file, run ?? []].flat()
  for (const name of files) await checkReadable(name, io)
  return prometheus === undefined ? {} : { readUse: openPrometheus(prometheus, io.env) }
}

async function readProbe(site: string, io: Io): Promise<ProbeRecord | undefined> {
  const folder = userStateFolder(io.env, 'probes')
  if (folder === undefined) return undefined
  const text = await readFile(path.join(folder, `${site}.json`), 'utf8').catch(() => '')
  return parseProbeRecord(text)
}

async function serve(backend: RunningBackend, options: ConsoleOptions, io: Io): Promise<ExitCode> {
  let port = options.port
  const opener = createLinkOpener(io)
  const guard = createGuard({
    port: () => port,
    onTokenUsed: () => {
      opener.forget()
      io.stderr(`for another browser: ${link()}\n`)
    },
  })
  const link = (): string => `http://${HOST}:${port}/?token=${guard.issueToken()}`
  const app = createApp({
    admit: async (context): Promise<Admission> => {
      const { method, path: target } = context.req
      const header = (name: string): string | undefined => context.req.header(name)
      const decision = guard.decide({ method, path: target, header, query: (name) => context.req.query(name) })
      return decision.kind === 'allow' ? { kind: 'allow', backend } : decision
    },
    assets: loadAssets(),
  })
  const running = await serveConsole({ fetch: (request) => app.fetch(request), host: HOST, port }, io.stop)
  port = running.port
  const url = link()
  io.stdout(options.output === 'table' ? `${url}\n` : await serialiseResult({ url, port }, options.output))
  io.stderr('the link works once; Ctrl-C ends the console\n')
  try {
    if (options.open) await opener.open(url)
    await running.stopped
  } finally {
    opener.forget()
  }
  return 0
}
