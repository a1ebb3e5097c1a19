//! Which connections have to leave, and when.

use super::*;

fn connections(most: usize) -> Arc<Connections> {
    Connections::new(&Limits { connections: most, ..Limits::default() })
}

async fn is_dismissed(connection: &Connection) -> bool {
    tokio::time::timeout(Duration::from_millis(1), connection.dismissed()).await.is_ok()
}

#[tokio::test(start_paused = true)]
async fn an_idle_connection_makes_room_and_a_busy_one_does_not() {
    let all = connections(2);
    let (one, two) = (all.enter().unwrap(), all.enter().unwrap());
    let (busy_one, busy_two) = (one.busy(false, None), two.busy(false, None));
    assert!(all.enter().is_none(), "all are busy");
    drop(busy_two);
    tokio::time::sleep(FULL).await;
    let three = all.enter().unwrap();
    assert!(is_dismissed(&two).await);
    assert!(!is_dismissed(&one).await && !is_dismissed(&three).await);
    drop((busy_one, one, two, three));
    assert_eq!((all.count(), locked(&all.known).len()), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn those_that_are_idle_go_one_after_the_other_and_those_that_come_back_do_not() {
    let all = connections(4);
    let mut connected = Vec::new();
    for _ in 0..4 {
        connected.push(all.enter().unwrap());
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    let fifth = all.enter().unwrap();
    assert!(is_dismissed(&connected[0]).await);
    // It was found idle with the others, and is not any more.
    drop(connected[1].busy(false, None));
    let sixth = all.enter().unwrap();
    assert!(is_dismissed(&connected[2]).await && !is_dismissed(&connected[1]).await);
    let busy: Vec<_> = connected.iter().chain([&fifth, &sixth]).map(|one| one.busy(false, None)).collect();
    assert!(all.enter().is_none(), "all are busy");
    drop(busy);
    assert!(all.enter().is_none(), "all were just now");
    tokio::time::sleep(FULL).await;
    assert!(all.enter().is_some());
}

#[tokio::test(start_paused = true)]
async fn a_crowd_that_says_nothing_pushes_out_itself() {
    let all = connections(16);
    let used: Vec<_> = (0..16).map(|_| all.enter().unwrap()).collect();
    used.iter().for_each(|one| drop(one.busy(false, None)));
    let mut silent = Vec::new();
    for _ in 0..30 {
        silent.push(all.enter().unwrap());
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let mut dismissed = 0;
    for one in &used {
        dismissed += usize::from(is_dismissed(one).await);
    }
    assert_eq!(dismissed, 3, "until there were more of the others than newcomers need");
    drop((used, silent));
    assert_eq!((locked(&all.queue).fresh.len(), locked(&all.known).len()), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn who_never_said_anything_goes_before_who_did() {
    let all = connections(2);
    let (used, fresh) = (all.enter().unwrap(), all.enter().unwrap());
    drop(used.busy(false, None));
    let _new = all.enter().unwrap();
    assert!(is_dismissed(&fresh).await && !is_dismissed(&used).await);
}

#[tokio::test(start_paused = true)]
async fn who_is_about_to_speak_takes_the_place_of_who_is_idle() {
    let all = connections(160);
    let used: Vec<_> = (0..160).map(|_| all.enter().unwrap()).collect();
    used.iter().for_each(|one| drop(one.busy(false, None)));
    let mut new = std::collections::VecDeque::new();
    for _ in 0..60 {
        new.push_back(all.enter().unwrap());
        tokio::time::sleep(Duration::from_millis(10)).await;
        // Each makes its request a tenth of a second after it came.
        if new.len() > 10 {
            let speaks = new.pop_front().unwrap();
            assert!(!is_dismissed(&speaks).await);
            drop(speaks.busy(false, None));
        }
    }
}

#[tokio::test(start_paused = true)]
async fn whoever_takes_an_answer_drop_by_drop_has_to_leave_and_whoever_watches_has_not() {
    let all = connections(9);
    let (slow, watching) = (all.enter().unwrap(), all.enter().unwrap());
    let (_slow, _watching) = (slow.busy(false, None), watching.busy(false, None).for_long());
    let sweeper = tokio::spawn({
        let all = all.clone();
        async move { all.dismiss_late().await }
    });
    tokio::time::sleep(Duration::from_secs(200)).await;
    assert!(!is_dismissed(&slow).await);
    tokio::time::sleep(Duration::from_secs(200)).await;
    assert!(is_dismissed(&slow).await && !is_dismissed(&watching).await);
    sweeper.abort();
}

#[tokio::test(start_paused = true)]
async fn whoever_takes_nothing_of_an_answer_has_to_leave_and_whoever_waits_for_us_has_not() {
    let all = connections(9);
    let connected: Vec<_> = (0..3).map(|_| all.enter().unwrap()).collect();
    let busy: Vec<_> = connected.iter().map(|connection| connection.busy(false, None).for_long()).collect();
    let [deaf, slow, ours] = &busy[..] else { unreachable!() };
    deaf.progress().offer();
    let sweeper = tokio::spawn({
        let all = all.clone();
        async move { all.dismiss_late().await }
    });
    for _ in 0..5 {
        slow.progress().offer();
        tokio::time::sleep(Duration::from_secs(20)).await;
        slow.progress().take();
        slow.progress().offer();
    }
    assert!(is_dismissed(&connected[0]).await);
    assert!(!is_dismissed(&connected[1]).await && !is_dismissed(&connected[2]).await);
    assert_eq!(ours.progress().offered_step(), None);
    sweeper.abort();
}

#[tokio::test(start_paused = true)]
async fn whoever_begins_a_head_has_less_time_than_whoever_waits() {
    let all = connections(9);
    let connected: Vec<_> = (0..4).map(|_| all.enter().unwrap()).collect();
    let [waiting, beginning, both, many] = &connected[..] else { unreachable!() };
    for connection in &connected {
        drop(connection.busy(Arc::ptr_eq(connection, many), None));
    }
    let _busy = both.busy(false, None);
    let sweeper = tokio::spawn({
        let all = all.clone();
        async move { all.dismiss_late().await }
    });
    // However much comes of it.
    for _ in 0..12 {
        beginning.has_read(1, None);
        both.has_read(1, None);
        many.has_read(1, Some(0));
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    assert!(is_dismissed(beginning).await);
    for other in [waiting, both, many] {
        assert!(!is_dismissed(other).await);
    }
    sweeper.abort();
}

#[tokio::test(start_paused = true)]
async fn whoever_is_idle_for_too_long_has_to_leave() {
    let all = connections(9);
    let (used, fresh) = (all.enter().unwrap(), all.enter().unwrap());
    drop(used.busy(false, None));
    let sweeper = tokio::spawn({
        let all = all.clone();
        async move { all.dismiss_late().await }
    });
    tokio::time::sleep(Duration::from_secs(12)).await;
    assert!(is_dismissed(&fresh).await && !is_dismissed(&used).await);
    tokio::time::sleep(Duration::from_secs(200)).await;
    assert!(is_dismissed(&used).await);
    sweeper.abort();
}

#[tokio::test(start_paused = true)]
async fn an_idle_connection_makes_room_for_another_of_its_caller_and_those_of_others_do_not() {
    let all = connections(100);
    let (own, other) = (Arc::default(), Arc::default());
    let connect = |caller| {
        let connection = all.enter().unwrap();
        connection.set_caller(caller);
        connection
    };
    let (first, second, third) = (connect(&own), connect(&own), connect(&other));
    for connection in [&first, &second, &third] {
        drop(connection.busy(false, None));
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    let busy = second.busy(false, None);
    let _not_charged = all.enter().unwrap();
    assert!(all.dismiss_one_of(&own));
    assert!(is_dismissed(&first).await);
    assert!(!all.dismiss_one_of(&own), "the other one is busy");
    drop(busy);
    assert!(!all.dismiss_one_of(&own), "it was just now");
    tokio::time::sleep(FULL).await;
    assert!(all.dismiss_one_of(&own));
    assert!(is_dismissed(&second).await && !is_dismissed(&third).await);
}

#[tokio::test(start_paused = true)]
async fn of_a_caller_used_connections_make_room_until_those_without_a_request_are_a_crowd() {
    let all = connections(100);
    let caller = Arc::default();
    let connected: Vec<_> = (0..16).map(|_| all.enter().unwrap()).collect();
    connected.iter().for_each(|connection| connection.set_caller(&caller));
    connected[..14].iter().for_each(|connection| drop(connection.busy(false, None)));
    assert!(all.dismiss_one_of(&caller));
    assert!(!is_dismissed(&connected[14]).await && !is_dismissed(&connected[15]).await);
    let more = all.enter().unwrap();
    more.set_caller(&caller);
    locked(&all.idle_by_caller).clear();
    assert!(all.dismiss_one_of(&caller));
    assert!(is_dismissed(&connected[14]).await || is_dismissed(&connected[15]).await);
}

#[tokio::test(start_paused = true)]
async fn frames_of_a_watch_are_not_an_unfinished_head() {
    let all = connections(9);
    let connection = all.enter().unwrap();
    let _watch = connection.busy(true, None).for_long();
    for _ in 0..100_000 {
        connection.has_read(17, Some(0));
    }
    assert_eq!(connection.buffered(), 0);
    connection.has_read(2_000, Some(2_000));
    assert!(connection.buffered() > 100 << 10, "a short head can be long once it is decoded");
    connection.has_read(17, Some(0));
    assert_eq!(connection.buffered(), 0);
}

#[tokio::test(start_paused = true)]
async fn only_connections_of_slow_clients_are_late() {
    let all = connections(9);
    let (slow, idle) = (all.enter().unwrap(), all.enter().unwrap());
    let busy = slow.busy(true, None);
    busy.progress().offer();
    let sweeper = tokio::spawn({
        let all = all.clone();
        async move { all.dismiss_late().await }
    });
    tokio::time::sleep(Duration::from_secs(40)).await;
    assert!(is_dismissed(&slow).await && slow.is_late());
    assert!(is_dismissed(&idle).await && !idle.is_late());
    sweeper.abort();
}

#[tokio::test(start_paused = true)]
async fn connections_of_a_caller_make_room_at_a_pace() {
    let all = connections(200);
    let caller = Arc::default();
    let connected: Vec<_> = (0..100).map(|_| all.enter().unwrap()).collect();
    connected.iter().for_each(|connection| connection.set_caller(&caller));
    let room = || (0..100).filter(|_| all.dismiss_one_of(&caller)).count();
    assert_eq!(room(), 50);
    tokio::time::advance(Duration::from_millis(100)).await;
    assert_eq!(room(), 10);
}
