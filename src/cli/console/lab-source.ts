/** Reads a lab for the console: its file, the status of its VMs and stages, and its certificates. Starts nothing. */
import { X509Certificate } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { systemClock } from '../../clock/clock.ts'
import type { LabCertificate, LabInput } from '../../console/views/lab.ts'
import { formatError } from '../../errors/failure.ts'
import { certificatePaths } from '../../lab/certificates.ts'
import { createDriveContext } from '../../lab/drive/driver.ts'
import { readLabStatus } from '../../lab/drive/lab-status.ts'
import { openReadOnlyState } from '../../lab/drive/state.ts'
import { isRendered } from '../../lab/tree.ts'
import type { Io } from '../io.ts'
import { type OpenedLab, openLab } from '../lab/lab-file.ts'
import { driveSettings } from '../lab/maintenance-run.ts'

export function openLabSource(file: string, io: Io): { readonly file: string; readonly read: () => Promise<LabInput> } {
  return { file, read: () => readLabInput(file, io) }
}

async function readLabInput(file: string, io: Io): Promise<LabInput> {
  const opened = await openLab({ file }, io)
  const { lab, findings, folder } = opened
  const now = systemClock.now()
  const input = { lab, file, findings, certificates: readCertificates(opened), now }
  if (!isRendered(folder)) return input
  try {
    const context = createDriveContext({ ...driveSettings(opened, io), store: await openReadOnlyState(folder) })
    return { ...input, status: await readLabStatus(context) }
  } catch (thrown) {
    io.verbose?.(`lab: ${formatError(thrown)}`)
    return input
  }
}

function readCertificates({ lab, folder }: OpenedLab): readonly LabCertificate[] {
  return certificatePaths(lab).flatMap((name) => {
    const file = path.join(folder, name)
    if (!/\.(?:crt|pem)$/.test(name) || !existsSync(file)) return []
    try {
      const { subject, validFrom, validTo } = new X509Certificate(readFileSync(file))
      return [{ path: name, subject, notBefore: Date.parse(validFrom), notAfter: Date.parse(validTo) }]
    } catch {
      return []
    }
  })
}
