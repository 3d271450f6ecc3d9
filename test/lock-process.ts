/**
 * Locks a file again and again, in a process that tests kill: `lock-process.ts FILE JOURNAL ROUNDS`.
 *
 * While it holds the lock, it owns a folder that no other process may find. It writes `overlap` where it is not alone.
 */
import { appendFileSync, mkdirSync, rmdirSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { tryLockFile } from '../src/exec/file-lock.ts'

const [file = '', journal = '', rounds = ''] = process.argv.slice(2)
const claim = `${file}.claim`

for (let done = 0; done < Number(rounds); ) {
  const attempt = tryLockFile(file)
  if (attempt.kind !== 'locked') {
    await sleep(1)
    continue
  }
  try {
    mkdirSync(claim)
    appendFileSync(journal, `${process.pid}\n`)
    await sleep(Math.random() * 3)
    rmdirSync(claim)
  } catch {
    appendFileSync(journal, 'overlap\n')
  }
  attempt.release()
  done += 1
}
