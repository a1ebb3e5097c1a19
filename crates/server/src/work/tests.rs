use std::sync::mpsc;

use tokio::time::{sleep, timeout};

use super::*;

fn caller() -> Arc<Shares> {
    Arc::default()
}

fn thread_name() -> String {
    thread::current().name().unwrap_or_default().to_owned()
}

const MANY: Capacity = Capacity { threads: 8, bytes: 64 << 20 };

fn is_of_pool(name: &str) -> bool {
    name.starts_with("work-")
}

fn start<F: Future>(pool: &WorkPool, caller: &Arc<Shares>, future: F) -> Task<F> {
    pool.client(caller).task(Box::pin(future))
}

#[tokio::test]
async fn a_light_step_stays_and_a_heavy_one_moves_to_the_pool() {
    let pool = WorkPool::new(MANY, Gauge::default());
    let names = start(&pool, &caller(), async {
        step(LIGHT_BYTES - 1).await;
        let light = thread_name();
        step(LIGHT_BYTES).await;
        let heavy = thread_name();
        sleep(Duration::from_millis(1)).await;
        (light, heavy, thread_name())
    });
    let (light, heavy, after) = names.await;
    assert!(!is_of_pool(&light) && is_of_pool(&heavy) && !is_of_pool(&after), "{light}, {heavy}, {after}");
    let alone = async { step(usize::MAX).await };
    assert!(timeout(Duration::from_secs(30), alone).await.is_ok(), "outside of a task, a step runs at once");
}

#[tokio::test]
async fn steps_run_beside_each_other_as_far_as_their_bytes_allow() {
    let pool = WorkPool::new(Capacity { bytes: 3 * LIGHT_BYTES, ..MANY }, Gauge::default());
    let (go, first) = blocking(&pool).await;
    let alone = async {
        step(LIGHT_BYTES).await;
        let name = thread_name();
        step(usize::MAX).await;
        name
    };
    let mut alone = tokio::spawn(start(&pool, &caller(), alone));
    assert!(timeout(Duration::from_millis(100), &mut alone).await.is_err(), "it needs the bytes of the first");
    drop(go);
    first.await.unwrap();
    assert!(is_of_pool(&alone.await.unwrap()));
    let both = [(); 2].map(|()| tokio::spawn(start(&pool, &caller(), step(usize::MAX))));
    for task in both {
        timeout(Duration::from_secs(30), task).await.expect("one after the other").unwrap();
    }
}

#[tokio::test]
async fn a_pool_has_no_more_threads_than_it_may() {
    let pool = WorkPool::new(Capacity { threads: 1, ..MANY }, Gauge::default());
    let (_busy, _task) = blocking(&pool).await;
    let second = timeout(Duration::from_millis(100), start(&pool, &caller(), async { step(LIGHT_BYTES).await })).await;
    assert!(second.is_err(), "the only thread is busy");
}

#[tokio::test]
async fn spawned_tasks_use_the_pool_too() {
    let pool = WorkPool::new(MANY, Gauge::default());
    let spawned = start(&pool, &caller(), async {
        let spawned = spawn(async {
            step(LIGHT_BYTES).await;
            thread_name()
        });
        spawned.await.unwrap()
    });
    assert!(is_of_pool(&spawned.await));
}

/// A task that keeps its thread of the pool busy until the sender is used or dropped.
async fn blocking(pool: &WorkPool) -> (mpsc::Sender<()>, JoinHandle<()>) {
    let (sender, receiver) = mpsc::channel();
    let has_begun = Arc::new(AtomicBool::new(false));
    let begun = has_begun.clone();
    let task = tokio::spawn(start(pool, &caller(), async move {
        step(LIGHT_BYTES).await;
        begun.store(true, Ordering::Relaxed);
        let _ = receiver.recv();
    }));
    until(|| has_begun.load(Ordering::Relaxed)).await;
    (sender, task)
}

async fn until(is_true: impl Fn() -> bool) {
    let waiting = async {
        while !is_true() {
            sleep(Duration::from_millis(1)).await;
        }
    };
    timeout(Duration::from_secs(30), waiting).await.expect("it becomes true");
}

/// Tasks that keep all threads of a pool busy.
async fn busy(pool: &WorkPool) -> Vec<(mpsc::Sender<()>, JoinHandle<()>)> {
    let count = thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let mut busy = Vec::new();
    for _ in 0..count {
        busy.push(blocking(pool).await);
    }
    busy
}

#[tokio::test]
async fn callers_take_turns_and_the_tasks_of_one_run_in_order() {
    let queued = Gauge::default();
    let pool = WorkPool::new(MANY, queued.clone());
    let busy = busy(&pool).await;
    let (many, few) = (caller(), caller());
    let (sender, order) = mpsc::channel();
    let mut tasks = Vec::new();
    for (caller, name) in [(&many, "m1"), (&many, "m2"), (&many, "m3"), (&few, "f1"), (&few, "f2")] {
        let sender = sender.clone();
        let task = start(&pool, caller, async move {
            step(LIGHT_BYTES).await;
            let _ = sender.send(name);
            // Only this thread goes on, so that the order is that of the queue.
        });
        tasks.push(tokio::spawn(task));
        tokio::task::yield_now().await;
    }
    drop(sender);
    until(|| queued.get() == 5).await;
    // One thread is enough, and shows the order.
    let mut busy = busy.into_iter();
    let (go, first) = busy.next().unwrap();
    drop(go);
    first.await.unwrap();
    for task in tasks {
        task.await.unwrap();
    }
    assert_eq!(order.iter().collect::<Vec<_>>(), ["m1", "f1", "m2", "f2", "m3"]);
    for (go, task) in busy {
        drop(go);
        task.await.unwrap();
    }
}

#[tokio::test]
async fn tasks_that_are_dropped_or_time_out_leave_the_queue_at_once() {
    let queued = Gauge::default();
    let pool = WorkPool::new(MANY, queued.clone());
    let busy = busy(&pool).await;
    let mut waiting = Vec::new();
    for _ in 0..100 {
        waiting.push(tokio::spawn(start(&pool, &caller(), async {
            step(LIGHT_BYTES).await;
        })));
    }
    until(|| queued.get() == 100).await;
    waiting.iter().for_each(JoinHandle::abort);
    until(|| locked(&pool.0.queue).is_empty()).await;
    let late = start(&pool, &caller(), async { timeout(Duration::from_millis(10), step(LIGHT_BYTES)).await.is_err() });
    assert!(timeout(Duration::from_secs(30), late).await.expect("its own time is up"));
    assert!(locked(&pool.0.queue).is_empty());
    for (go, task) in busy {
        drop(go);
        task.await.unwrap();
    }
}

#[tokio::test]
async fn a_task_that_is_dropped_while_it_is_polled_is_not_queued_again() {
    let pool = WorkPool::new(MANY, Gauge::default());
    let busy = busy(&pool).await;
    let (go, receiver) = mpsc::channel::<()>();
    let (begun, went_on) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
    let (begins, goes_on) = (begun.clone(), went_on.clone());
    let task = tokio::spawn(start(&pool, &caller(), async move {
        step(LIGHT_BYTES).await;
        begins.store(true, Ordering::Relaxed);
        let _ = receiver.recv();
        // Another task waits by then, and this one has had its turn.
        thread::sleep(TURN_TIME);
        step(LIGHT_BYTES).await;
        goes_on.store(true, Ordering::Relaxed);
    }));
    until(|| !locked(&pool.0.queue).is_empty()).await;
    let mut busy = busy.into_iter();
    let (first, blocker) = busy.next().unwrap();
    drop(first);
    blocker.await.unwrap();
    until(|| begun.load(Ordering::Relaxed)).await;
    let waiting = tokio::spawn(start(&pool, &caller(), step(LIGHT_BYTES)));
    until(|| !locked(&pool.0.queue).is_empty()).await;
    task.abort();
    assert!(task.await.unwrap_err().is_cancelled());
    drop(go);
    waiting.await.unwrap();
    until(|| Arc::strong_count(&went_on) == 1).await;
    assert!(!went_on.load(Ordering::Relaxed));
    for (go, task) in busy {
        drop(go);
        task.await.unwrap();
    }
}

#[tokio::test]
async fn a_panic_reaches_the_task_and_the_pool_goes_on() {
    let pool = WorkPool::new(MANY, Gauge::default());
    for _ in 0..10 {
        let task = tokio::spawn(start(&pool, &caller(), async {
            step(LIGHT_BYTES).await;
            panic!("in the pool");
        }));
        assert!(task.await.unwrap_err().is_panic());
    }
    let name = start(&pool, &caller(), async {
        step(LIGHT_BYTES).await;
        thread_name()
    });
    assert!(is_of_pool(&name.await));
}
