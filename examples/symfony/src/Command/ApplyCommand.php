<?php

declare(strict_types=1);

namespace ReconBatch\Messenger\Command;

use ReconBatch\Messenger\Apply\Applier;
use ReconBatch\Messenger\Apply\Result;
use ReconBatch\Messenger\Apply\RunFolder;
use Symfony\Component\Console\Command\Command;
use Symfony\Component\Console\Input\InputArgument;
use Symfony\Component\Console\Input\InputInterface;
use Symfony\Component\Console\Output\OutputInterface;

final class ApplyCommand extends Command
{
    public function __construct(private readonly Applier $applier)
    {
        parent::__construct('recon:apply');
    }

    protected function configure(): void
    {
        $this->setDescription('Acts on the queues of a published run: confirm, close, requeue');
        $this->addArgument('run', InputArgument::REQUIRED, 'Folder of the run: <out>/<job>/<date>/current');
    }

    protected function execute(InputInterface $input, OutputInterface $output): int
    {
        $run = RunFolder::open($input->getArgument('run'));
        $counts = [];
        foreach ($run->withdrawn() as $w) {
            $this->applier->withdraw($w['run_id'], $w['item_id']);
        }
        // What is proven to be done goes first.
        foreach (['confirm', 'close', 'requeue', 'compensate', 'review'] as $queue) {
            foreach ($run->items($queue) as $item) {
                $result = $this->applier->apply($item);
                $counts[$queue][$result->value] = 1 + ($counts[$queue][$result->value] ?? 0);
                if (!in_array($result, [Result::Applied, Result::AlreadyApplied, Result::AlreadyDone, Result::NotForUs], true)) {
                    $output->writeln(sprintf('%s %s: %s', $queue, $item['operation_id'] ?? $item['item_id'], $result->value), OutputInterface::OUTPUT_RAW);
                }
            }
        }
        foreach ($counts as $queue => $results) {
            ksort($results);
            $output->writeln($queue.': '.implode(', ', array_map(static fn (string $r, int $n): string => $n.' '.$r, array_keys($results), $results)));
        }

        return Command::SUCCESS;
    }
}
