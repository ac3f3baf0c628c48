<?php

declare(strict_types=1);

namespace ReconBatch\Messenger\Apply;

/**
 * A published run of recon-batch. It is opened once: a run that supersedes it
 * meanwhile does not mix into it.
 */
final class RunFolder
{
    /** @param array<string, string> $digests path → SHA-256 */
    private function __construct(
        private readonly string $dir,
        public readonly string $runId,
        public readonly string $businessDate,
        private readonly array $digests,
    ) {
    }

    /**
     * @param string $dir folder of a run, or the link `current` to it
     *
     * @throws \RuntimeException where it is no published run, or not the current one of its date
     */
    public static function open(string $dir): self
    {
        $real = realpath($dir);
        if (false === $real || !is_file($real.'/manifest.json')) {
            throw new \RuntimeException(sprintf('%s is no published run: it has no manifest.json.', $dir));
        }
        $manifest = json_decode((string) file_get_contents($real.'/manifest.json'), true, 64, \JSON_THROW_ON_ERROR);
        if (1 !== ($manifest['schema_version'] ?? null)) {
            throw new \RuntimeException(sprintf('The manifest of %s has another form than this bundle knows (schema_version 1).', $dir));
        }
        if (realpath(dirname($real).'/current') !== $real) {
            throw new \RuntimeException(sprintf('Run %s was superseded: apply the one that `current` points to.', $manifest['run_id']));
        }

        return new self($real, $manifest['run_id'], $manifest['business_date'], array_column($manifest['outputs'], 'sha256', 'path'));
    }

    /**
     * The items of one queue, in the order of the file. A queue that the run did not
     * write has none.
     *
     * @return \Generator<int, array<string, mixed>>
     *
     * @throws \RuntimeException where the file is not the one that was published
     */
    public function items(string $queue): \Generator
    {
        foreach ($this->lines('queues/'.$queue.'.ndjson') as $item) {
            $item += ['queue' => $queue];
            if (($item['run_id'] ?? null) !== $this->runId || $item['queue'] !== $queue) {
                throw new \RuntimeException(sprintf('queues/%s.ndjson of run %s has an item of another run or queue.', $queue, $this->runId));
            }
            yield $item;
        }
    }

    /**
     * What this run has taken back of the runs that it supersedes.
     *
     * @return \Generator<int, array<string, mixed>> with run_id and item_id
     */
    public function withdrawn(): \Generator
    {
        return $this->lines('queues/withdrawn.ndjson');
    }

    /** @return \Generator<int, array<string, mixed>> */
    private function lines(string $path): \Generator
    {
        if (!isset($this->digests[$path])) {
            return;
        }
        // The whole file is looked at before its first item is handed out: a run that
        // is damaged anywhere is not acted upon in part.
        if (!is_file($this->dir.'/'.$path) || !hash_equals($this->digests[$path], (string) hash_file('sha256', $this->dir.'/'.$path))) {
            throw new \RuntimeException(sprintf('%s of run %s is not the file that was published: `recon-batch verify` tells more.', $path, $this->runId));
        }
        $in = fopen($this->dir.'/'.$path, 'rb');
        try {
            while (false !== ($line = fgets($in))) {
                yield json_decode($line, true, 64, \JSON_THROW_ON_ERROR);
            }
        } finally {
            fclose($in);
        }
    }
}
